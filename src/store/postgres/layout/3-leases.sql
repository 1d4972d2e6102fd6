-- Work that one node does at a time.

create table :schema.leases (
  work bytea primary key,
  node text not null,
  fence bigint not null,
  until timestamptz not null
);

-- Answers the fence, or null and who has the lease. The document is written under the lock that commits take which check it.
create function :schema.take_lease_1(p_work bytea, p_slot int, p_node text, p_ms int)
returns table (fence bigint, holder text) language plpgsql as $function$
declare
  v_old :schema.leases;
  v_fence bigint;
begin
  perform pg_advisory_xact_lock(hashtext(':schema commits'), p_slot);
  select * into v_old from :schema.leases l where l.work = p_work;
  if v_old.until > clock_timestamp() and v_old.node <> p_node then
    return query select null::bigint, v_old.node;
    return;
  end if;
  if v_old.until > clock_timestamp() then v_fence := v_old.fence;
  else v_fence := nextval(':schema.change_number');
  end if;
  insert into :schema.leases as l (work, node, fence, until)
    values (p_work, p_node, v_fence, clock_timestamp() + p_ms * interval '1 ms')
    on conflict (work) do update set node = excluded.node, fence = excluded.fence, until = excluded.until;
  if v_fence is distinct from v_old.fence then
    insert into :schema.documents as d (key, value, version)
      values (p_work, convert_to(to_json(p_node)::text, 'UTF8'), v_fence)
      on conflict (key) do update set value = excluded.value, version = excluded.version;
    insert into :schema.changes (n, node, keys) values (v_fence, p_node, array[p_work]);
  end if;
  return query select v_fence, p_node;
end $function$;
