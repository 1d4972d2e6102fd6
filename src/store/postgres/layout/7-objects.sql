-- Chunks of bars that stand in a bucket.

-- Which bucket the bars are in; no row: none.
create table :schema.bar_bucket (address text not null, one boolean primary key default true check (one));
create table :schema.bar_objects (
  hash bytea primary key,
  -- What rows of chunks have in the place of the bytes.
  pointer bytea not null,
  -- Since when no row is known to point at it.
  unused timestamptz,
  -- Its deletion has begun.
  going boolean not null default false
);
create index on :schema.bar_chunks (bytes) where octet_length(bytes) = 44;

-- Notes that an object is about to be put and pointed at, and answers its pointer.
create function :schema.note_object_1(p_hash bytea, p_bars int)
returns bytea language plpgsql as $function$
declare
  v_fresh constant bytea := set_byte(set_byte('\x00000000'::bytea, 0, p_bars & 255), 1, p_bars >> 8)
    || int8send(nextval(':schema.change_number')) || p_hash;
  v_pointer bytea;
begin
  insert into :schema.bar_objects as o (hash, pointer) values (p_hash, v_fresh)
    on conflict (hash) do update set
      pointer = case when o.going then v_fresh else o.pointer end, unused = null, going = false
    returning o.pointer into v_pointer;
  return v_pointer;
end $function$;
