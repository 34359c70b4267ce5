# The gateway and its command line, with nothing that only development needs: no Prisma CLI, no
# tests, no package manager. Nothing is downloaded once the image is built.
#
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) -t wagergate:0.1.0 .
#
# docs/deployment.md says how to pin the base by its digest, and builds for two architectures with
# an SBOM. `npm run image` builds it, runs it, and holds it to what is promised of it.
ARG NODE_IMAGE=node:24-slim

# What of the base is needed at run time. Its layer changes only when the base does.
FROM ${NODE_IMAGE} AS system
COPY scripts/gather-system.sh /
RUN sh /gather-system.sh /system

# Its layer changes only when a dependency does.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prune-packages.mjs scripts/
# Scripts of packages are not run: none is needed.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && node scripts/prune-packages.mjs node_modules

# The gateway itself, with the Prisma client that is generated from the schema and the console's pages.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# With what is optional: the bundler of the console's pages brings its binary so.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY prisma.config.ts ./
COPY prisma/schema.prisma prisma/
COPY scripts/generate-prisma-client.mjs scripts/
RUN node scripts/generate-prisma-client.mjs
COPY vite.config.ts tsconfig.json ./
COPY scripts/build-console.mjs scripts/
COPY src src/
RUN node scripts/build-console.mjs
WORKDIR /app
COPY package.json LICENSE ./
COPY prisma/migrations prisma/migrations/
# A commented example; mount your own over it, or name its place in GATEWAY_CONFIG.
COPY config config/
COPY src src/
# All may read and nobody may write, no matter with which umask the sources were checked out.
RUN mv /build/src/store/prisma-client src/store/ \
 && mkdir dist && mv /build/dist/console dist/ \
 && rm -r src/console dist/console/.vite \
 && chmod -R u=rwX,go=rX . \
 && chmod 755 src/entry-point.sh src/cli/launcher.mjs src/cli/wagergate.ts

FROM scratch
COPY --from=system /system/ /
ENV NODE_ENV=production \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules/
COPY --from=build /app ./
# All files belong to root and none is written: the root file system may be read-only.
USER 1000:1000
EXPOSE 8080 9090
# Alive, not ready: what a restart could repair. While PostgreSQL is away every process is not ready.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "/app/src/health-check.ts"]
# The gateway; with words behind the image's name a `wagergate` command: docker run wagergate migrate
ENTRYPOINT ["/app/src/entry-point.sh"]
# Last, because they differ with every release, and everything after them would have to be built again.
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="Wagergate" \
      org.opencontainers.image.description="The gateway that a sportsbook aggregator runs in front of its operators' wallets" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
