# syntax=docker/dockerfile:1
# Built on the machine at hand for any other: only the copy below is of the image's own architecture.
FROM --platform=$BUILDPLATFORM oven/bun:1.4.5-slim AS build
ARG TARGETARCH
WORKDIR /app
COPY package.json bun.lock .npmrc bunfig.toml ./
RUN bun install --frozen-lockfile --os=linux --cpu=*
COPY . .
RUN bun src/tools/build.ts --target "linux-$(echo "$TARGETARCH" | sed s/amd64/x64/)" --outfile /out/chartroom \
  && install -d -m 0700 -o 1000 -g 1000 /out/data

# Glibc, libstdc++, certificates and time zones, and nothing else: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12
COPY --from=build /out/chartroom /usr/local/bin/chartroom
COPY --from=build --chown=1000:1000 /out/data /data
# BUN_TMPDIR: the executable unpacks LMDB's library there and maps it, so it must be writable and not noexec.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data BUN_TMPDIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=3s CMD ["/usr/local/bin/chartroom", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/chartroom"]
CMD ["serve"]
