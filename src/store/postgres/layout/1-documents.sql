-- Keys and values are bytes: text of PostgreSQL takes no zero, and its order is a locale's.

create table :schema.documents (
  key bytea primary key,
  value bytea not null,
  version bigint not null
);
-- Old ones are taken away by whoever serves.
create table :schema.commits (
  id bytea primary key,
  outcomes int[] not null,
  at timestamptz not null default clock_timestamp()
);
create index on :schema.commits (at);
create sequence :schema.change_number;
-- What was written, in the order in which others may hear of it: by transaction, not by number.
create table :schema.changes (
  xid xid8 not null default pg_current_xact_id(),
  n bigint not null,
  node text not null,
  keys bytea[] not null,
  at timestamptz not null default clock_timestamp(),
  primary key (xid, n)
);

-- A group of commits as one function of the database, so that it is one statement, one transaction and one round trip.
--
-- What the group touches is locked first, in one order for everybody: so groups of several nodes never wait for each
-- other in a circle, and what is checked stays as it is until the group is done. Locks are on 1,024 slots that keys are
-- shared out to, not on rows: a key that must be absent has no row, and the number of locks stays bounded however large
-- the groups are. Under READ COMMITTED each statement then sees what the last holder of the locks has written.
--
-- Commits of a group that touch the same keys are in different rounds, which run one after the other; those of one round
-- are judged and written together, in a few statements however many they are. All of a group get one version: nobody
-- else sees the database between two rounds.
--
-- An answer that was lost is asked for again under the same id. The second call waits for the locks of the first one,
-- and then finds what that one has answered: for each commit -1 if it was done, 0 if a check failed, and otherwise the number
-- of the sum that would have risen above its bound.
create function :schema.commit_1(
  p_id bytea, p_node text, p_commits int, p_rounds int,
  p_slots int[], p_exclusive boolean[],
  ck_round int[], ck_commit int[], ck_key bytea[], ck_version bigint[],
  st_round int[], st_commit int[], st_key bytea[], st_from int[], st_length int[], st_values bytea,
  dl_round int[], dl_commit int[], dl_key bytea[],
  sm_round int[], sm_commit int[], sm_key bytea[], sm_step bigint[], sm_max bigint[]
) returns int[] language plpgsql as $function$
declare
  v_class constant int := hashtext(':schema commits');
  v_outcomes int[];
  v_version bigint;
  v_keys bytea[] := '{}';
  v_written bytea[];
  v_commit int;
  v_sum int;
begin
  for i in 1 .. coalesce(cardinality(p_slots), 0) loop
    if p_exclusive[i] then perform pg_advisory_xact_lock(v_class, p_slots[i]);
    else perform pg_advisory_xact_lock_shared(v_class, p_slots[i]);
    end if;
  end loop;
  select c.outcomes into v_outcomes from :schema.commits c where c.id = p_id;
  if found then return v_outcomes; end if;

  v_outcomes := array_fill(-1, array[p_commits]);
  v_version := nextval(':schema.change_number');
  for v_round in 1 .. p_rounds loop
    if cardinality(ck_key) > 0 then
      for v_commit in
        select distinct c.commit
        from unnest(ck_round, ck_commit, ck_key, ck_version) as c (round, commit, key, version)
        left join :schema.documents d on d.key = c.key
        where c.round = v_round and d.version is distinct from c.version
      loop
        v_outcomes[v_commit] := 0;
      end loop;
    end if;

    if cardinality(sm_key) > 0 then
      for v_commit, v_sum in
        select s.commit, min(s.i)
        from unnest(sm_round, sm_commit, sm_key, sm_step, sm_max) with ordinality as s (round, commit, key, step, max, i)
        left join :schema.documents d on d.key = s.key
        where s.round = v_round and v_outcomes[s.commit] = -1 and s.step > 0
          and coalesce(convert_from(d.value, 'UTF8')::bigint, 0) + s.step > s.max
        group by s.commit
      loop
        v_outcomes[v_commit] := v_sum;
      end loop;

      with summed as materialized (
        select s.key, coalesce(convert_from(d.value, 'UTF8')::bigint, 0) + s.step as value
        from unnest(sm_round, sm_commit, sm_key, sm_step) as s (round, commit, key, step)
        left join :schema.documents d on d.key = s.key
        where s.round = v_round and v_outcomes[s.commit] = -1
      ), gone as (
        delete from :schema.documents d using summed s where d.key = s.key and s.value <= 0
      ), written as (
        insert into :schema.documents as d (key, value, version)
        select s.key, convert_to(s.value::text, 'UTF8'), v_version from summed s where s.value > 0
        on conflict (key) do update set value = excluded.value, version = excluded.version
      )
      select coalesce(array_agg(s.key), '{}') into v_written from summed s;
      v_keys := v_keys || v_written;
    end if;

    if cardinality(dl_key) > 0 then
      with gone as (
        delete from :schema.documents d
        using unnest(dl_round, dl_commit, dl_key) as x (round, commit, key)
        where x.round = v_round and v_outcomes[x.commit] = -1 and d.key = x.key
        returning d.key
      )
      select coalesce(array_agg(g.key), '{}') into v_written from gone g;
      v_keys := v_keys || v_written;
    end if;

    if cardinality(st_key) > 0 then
      with written as (
        insert into :schema.documents as d (key, value, version)
        select x.key, substring(st_values from x.start for x.length), v_version
        from unnest(st_round, st_commit, st_key, st_from, st_length) as x (round, commit, key, start, length)
        where x.round = v_round and v_outcomes[x.commit] = -1
        on conflict (key) do update set value = excluded.value, version = excluded.version
        returning d.key
      )
      select coalesce(array_agg(w.key), '{}') into v_written from written w;
      v_keys := v_keys || v_written;
    end if;
  end loop;

  if cardinality(v_keys) > 0 then
    insert into :schema.changes (n, node, keys) values (v_version, p_node, v_keys);
  end if;
  insert into :schema.commits (id, outcomes) values (p_id, v_outcomes);
  return v_outcomes;
end $function$;
