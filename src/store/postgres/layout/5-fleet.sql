-- The nodes that serve, and the shards of the work that each of them does.

alter table :schema.nodes add column version text, add column lag_ms float8;

-- The holder is the key of the lease of the node that does the shard's work; null: nobody does.
create table :schema.shards (shard int primary key, holder bytea);
insert into :schema.shards (shard) select generate_series(0, 255);

-- Ends a lease that has run out, with its fence and its node's shards. The fence is removed under the lock that commits
-- which check it take. Answers whether there was such a lease.
create function :schema.bury_1(p_work bytea, p_slot int, p_dead text, p_node text)
returns boolean language plpgsql as $function$
begin
  perform pg_advisory_xact_lock(hashtext(':schema commits'), p_slot);
  delete from :schema.leases l where l.work = p_work and l.until <= clock_timestamp();
  if not found then return false; end if;
  delete from :schema.documents d where d.key = p_work;
  update :schema.shards s set holder = null where s.holder = p_work;
  delete from :schema.nodes n where n.node = p_dead;
  insert into :schema.changes (n, node, keys) values (nextval(':schema.change_number'), p_node, array[p_work]);
  return true;
end $function$;

-- Takes shards that are nobody's, unless the lease has run out: it may be about to be ended.
create function :schema.claim_1(p_work bytea, p_most int)
returns setof int language plpgsql as $function$
begin
  perform from :schema.leases l where l.work = p_work and l.until > clock_timestamp() for share;
  if not found then return; end if;
  return query update :schema.shards s set holder = p_work
    where s.shard in (
      select x.shard from :schema.shards x where x.holder is null order by x.shard limit p_most for update skip locked
    ) returning s.shard;
end $function$;
