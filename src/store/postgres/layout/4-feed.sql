-- How far each node has read what others wrote.

create table :schema.nodes (
  node text primary key,
  -- Everything before it was read.
  at_xid xid8 not null,
  started timestamptz not null default clock_timestamp(),
  seen timestamptz not null default clock_timestamp()
);
-- Changes before it may be gone.
create table :schema.feed (pruned xid8 not null);
insert into :schema.feed values ('0');
