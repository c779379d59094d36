# syntax=docker/dockerfile:1
# The gateway on a base without shell or package manager, as an unprivileged user on a read-only file system.
#
#   docker build -t tollgate .
#   docker build -t tollgate:trial --build-arg PACKAGES="sandbox embedded-postgres" .
#
# docs/operating.md, "Deployment", tells how to run it. A test holds the versions and V8's flags to package.json.
ARG NODE_VERSION=26.10.0
ARG NODE_IMAGE=node:${NODE_VERSION}-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${NODE_IMAGE} AS node
WORKDIR /app

# The console's static files and the pages of the documents. Its bundler and libraries stay in this stage.
FROM node AS console
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --workspace=console --ignore-scripts
COPY tsconfig.json ./
COPY console console
COPY docs docs
COPY src src
RUN npm run build --workspace=console

# The packages that the gateway imports.
FROM node AS modules
ARG PACKAGES=""
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY scripts/components.ts scripts/prune-modules.ts scripts/
RUN set -eu; \
    if [ -z "$PACKAGES" ]; then \
      npm ci --omit=dev --omit=optional --no-workspaces --ignore-scripts; \
      rm -rf packages/*; \
    else \
      for name in $PACKAGES; do set -- "$@" "--workspace=packages/$name"; done; \
      npm ci --omit=dev --ignore-scripts --include-workspace-root "$@"; \
      rm -rf node_modules/node-* node_modules/.bin/node; \
    fi; \
    node scripts/prune-modules.ts $PACKAGES

# The program without its tests, what Node needs beside the base, and the folder that a volume is mounted on.
FROM node AS program
# Debian keeps one version of each package.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libatomic1 tini \
    && rm -rf /var/lib/apt/lists/*
COPY . .
RUN find src packages -name '*.test.ts' -delete; \
    mkdir -p /image/app /image/data /image/lib; \
    cp -L /usr/lib/*-linux-gnu/libatomic.so.1 /image/lib/; \
    cp -a package.json LICENSE deploy migrations src tollgate.example.yaml /image/app/

# The gateway as it will lie there, and its modules compiled once: a start takes half the processor time. Node looks for
# what the same user has compiled with the same flags.
FROM node AS whole
COPY --from=program /image/app ./
COPY --from=modules /app/packages packages
COPY --from=modules /app/node_modules node_modules
COPY --from=console /app/console/dist console/dist
RUN mkdir --mode=777 .cache
USER 65532:65532
RUN NODE_COMPILE_CACHE=/app/.cache node --expose-gc --external-memory-accounted-in-global-limit --heap-growing-percent=200 \
      --memory-reducer-gc-count=0 --no-parallel-scavenge src/main.ts --version

FROM ${BASE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tollgate" \
      org.opencontainers.image.description="A self-hosted gateway to text, image, video and audio models: one API key, one credit balance, exact billing." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=program /usr/bin/tini-static /usr/local/bin/tini
COPY --from=program /image/lib /usr/lib
COPY --from=program --chown=65532:65532 --chmod=700 /image/data /data
COPY --from=whole /app /app
WORKDIR /app
USER 65532:65532
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE=/app/.cache HOST=0.0.0.0 PORT=8787 TOLLGATE_DATA=/data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "/app/deploy/docker/healthcheck.mjs"]
# tini passes signals on and reaps what loses its parent; Node as process 1 does neither for its children.
ENTRYPOINT ["/usr/local/bin/tini", "--", "/usr/local/bin/node", "--expose-gc", "--external-memory-accounted-in-global-limit", "--heap-growing-percent=200", "--memory-reducer-gc-count=0", "--no-parallel-scavenge", "/app/src/main.ts"]
CMD ["serve"]
