-- Series of bars as chunks, and the writes to them.

create sequence :schema.series_id;
create table :schema.bar_series (
  key bytea primary key,
  -- Names the series in its chunks.
  id bigint not null,
  change bigint not null,
  count float8 not null,
  first float8 not null,
  last float8 not null,
  begun float8
);
create table :schema.bar_chunks (
  series bigint not null,
  first float8 not null,
  last float8 not null,
  bars int not null,
  bytes bytea not null,
  primary key (series, first)
);
-- They are packed already.
alter table :schema.bar_chunks alter column bytes set storage external;
-- Ids whose chunks no series has: of imports under way, and of what is being taken away.
create table :schema.bar_drafts (
  id bigint primary key,
  at timestamptz not null default clock_timestamp()
);
create table :schema.bar_notes (
  key bytea primary key,
  first float8 not null,
  last float8 not null,
  change bigint not null
);
create table :schema.bar_symbols (key bytea primary key, info bytea not null);
alter table :schema.commits add column change bigint;

-- A writer has read the series and merged it with what is new. Under a lock of the series the function writes that if
-- the series still has the change number that was read, and otherwise nothing. A write that was sent twice finds itself
-- under its id, as a commit of documents does.

-- Answers the new change number, or null if the series no longer has p_change. If p_series is given, the chunks of that id
-- become the series; otherwise the chunks given here go into it.
create function :schema.write_bars_1(
  p_id bytea, p_node text, p_slot int, p_key bytea, p_told bytea, p_change bigint, p_series bigint,
  p_count float8, p_first float8, p_last float8, p_begun float8,
  p_news_first float8, p_news_last float8,
  p_gone float8[], ch_first float8[], ch_last float8[], ch_bars int[], ch_from int[], ch_length int[], ch_bytes bytea
) returns float8 language plpgsql as $function$
declare
  v_old :schema.bar_series;
  v_change bigint;
  v_series bigint;
begin
  perform pg_advisory_xact_lock(hashtext(':schema bars'), p_slot % 1024);
  select c.change into v_change from :schema.commits c where c.id = p_id;
  if found then return v_change; end if;
  select * into v_old from :schema.bar_series s where s.key = p_key;
  if v_old.change is distinct from p_change then return null; end if;
  v_change := nextval(':schema.change_number');
  v_series := coalesce(p_series, v_old.id, nextval(':schema.series_id'));
  delete from :schema.bar_drafts d where d.id = v_series;
  if v_old.id <> v_series then insert into :schema.bar_drafts (id) values (v_old.id); end if;
  delete from :schema.bar_chunks c where c.series = v_series and c.first = any(p_gone);
  insert into :schema.bar_chunks as c (series, first, last, bars, bytes)
    select v_series, x.first, x.last, x.bars, substring(ch_bytes from x.start for x.length)
    from unnest(ch_first, ch_last, ch_bars, ch_from, ch_length) as x (first, last, bars, start, length)
    on conflict (series, first) do update
      set last = excluded.last, bars = excluded.bars, bytes = excluded.bytes;
  insert into :schema.bar_series as s (key, id, change, count, first, last, begun)
    values (p_key, v_series, v_change, p_count, p_first, p_last, p_begun)
    on conflict (key) do update set
      id = excluded.id, change = excluded.change, count = excluded.count,
      first = excluded.first, last = excluded.last, begun = excluded.begun;
  insert into :schema.bar_notes as n (key, first, last, change) values (p_key, p_news_first, p_news_last, v_change)
  on conflict (key) do update set
    first = least(n.first, excluded.first), last = greatest(n.last, excluded.last), change = excluded.change;
  insert into :schema.changes (n, node, keys) values (v_change, p_node, array[p_told]);
  insert into :schema.commits (id, outcomes, change) values (p_id, '{}', v_change);
  return v_change;
end $function$;

-- The series' chunks stay, as a draft's, to be removed a few at a time. Answers whether there was such a series.
create function :schema.remove_bars_1(p_id bytea, p_node text, p_slot int, p_key bytea, p_told bytea)
returns boolean language plpgsql as $function$
declare
  v_old :schema.bar_series;
  v_change bigint;
begin
  perform pg_advisory_xact_lock(hashtext(':schema bars'), p_slot % 1024);
  perform from :schema.commits c where c.id = p_id;
  if found then return true; end if;
  delete from :schema.bar_series s where s.key = p_key returning * into v_old;
  if v_old.id is null then return false; end if;
  v_change := nextval(':schema.change_number');
  insert into :schema.bar_drafts (id) values (v_old.id);
  insert into :schema.bar_notes as n (key, first, last, change) values (p_key, v_old.first, v_old.last, v_change)
  on conflict (key) do update set
    first = least(n.first, excluded.first), last = greatest(n.last, excluded.last), change = excluded.change;
  insert into :schema.changes (n, node, keys) values (v_change, p_node, array[p_told]);
  insert into :schema.commits (id, outcomes, change) values (p_id, '{}', v_change);
  return true;
end $function$;
