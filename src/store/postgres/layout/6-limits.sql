-- Rate limits that all nodes share. Unlogged: after a crash of the database every bucket is full again, which is less than a window's
-- worth of requests.

create unlogged table :schema.buckets (
  bucket bytea primary key,
  tokens float8 not null,
  at timestamptz not null default clock_timestamp()
);

create function :schema.take_tokens_1(p_bucket bytea, p_quota float8, p_window float8, p_wanted float8)
returns table (granted float8, remain float8) language plpgsql as $function$
declare
  v_now timestamptz;
  v_tokens float8;
  v_granted float8;
begin
  insert into :schema.buckets (bucket, tokens) values (p_bucket, p_quota) on conflict do nothing;
  -- The time is that of whoever has the row, not of whoever began to wait for it.
  perform from :schema.buckets b where b.bucket = p_bucket for update;
  v_now := clock_timestamp();
  select least(p_quota, b.tokens + greatest(0, extract(epoch from v_now - b.at)) * p_quota / p_window)
    into v_tokens from :schema.buckets b where b.bucket = p_bucket;
  v_granted := least(p_wanted, floor(v_tokens));
  update :schema.buckets b set tokens = v_tokens - v_granted, at = v_now where b.bucket = p_bucket;
  return query select v_granted, v_tokens - v_granted;
end $function$;
