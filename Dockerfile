# syntax=docker/dockerfile:1
FROM oven/bun:1.4.5-slim AS build
WORKDIR /app
COPY package.json bun.lock .npmrc bunfig.toml ./
RUN bun install --frozen-lockfile
COPY . .
RUN bun src/tools/build.ts && install -d -m 0700 -o 1000 -g 1000 /out/data

# LMDB needs glibc 2.34 or newer and libstdc++; gcr.io/distroless/cc-debian12 has them too.
FROM debian:bookworm-slim
COPY --from=build /app/dist/chartroom /usr/local/bin/chartroom
COPY --from=build --chown=1000:1000 /out/data /data
# BUN_TMPDIR: the executable unpacks LMDB's library there and maps it, so it must be writable and not noexec.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data BUN_TMPDIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=3s CMD ["/usr/local/bin/chartroom", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/chartroom"]
CMD ["serve"]
