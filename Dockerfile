# The gateway without shell, package manager or root: docs/deploying.md.
#
# Both images are published for linux/amd64 and linux/arm64. The tests build for amd64 only: arm64 is declared and untested.
# Name others, such as those of your own registry, with --build-arg. BUILD_IMAGE needs Node.js 24 at /usr/local/bin/node, npm
# and a shell; RUNTIME_IMAGE needs glibc, libstdc++ and nothing else.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY . .
# The secret is for a registry of your own: --secret id=npmrc,src=$HOME/.npmrc
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --omit=dev --no-audit --no-fund
# With the Node.js of the image, whose publisher is that of the image.
RUN /usr/local/bin/node deploy/image/collect.js "$(/usr/local/bin/node server/bundle/prepare.js)" /image

FROM ${RUNTIME_IMAGE}
# The commit, and the address of its repository.
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Crossward" \
  org.opencontainers.image.version="0.2.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.description="One uniform HTTP/JSON interface over many electronic health record systems" \
  org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /image /app
WORKDIR /app
# The variables of glibc are those of server/node.sh, and so are the options of V8 below.
ENV PATH=/usr/local/bin \
  HOST=0.0.0.0 \
  PORT=8080 \
  CROSSWARD_CONFIG=/etc/crossward/crossward.yaml \
  MALLOC_ARENA_MAX=1 \
  MALLOC_MMAP_THRESHOLD_=65536 \
  MALLOC_TRIM_THRESHOLD_=131072
# By number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
# Needs no curl. Reads HEALTH_URL if http.operations_port gives /health a port of its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/usr/local/bin/node", "deploy/image/healthy.js"]
# Node.js itself is process 1 and gets the signals. The gateway handles SIGTERM and reaps its workers, so no tini is needed.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--no-parallel-scavenge"]
CMD ["server/bundle/gateway.js"]
