# The gateway and its command line, with nothing that only development needs: no Prisma CLI, no
# tests, no package manager. Nothing is downloaded once the image is built.
#
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) -t wagergate .
ARG NODE_IMAGE=node:24-slim

# The Prisma client, generated from the schema. Scripts of packages are not run: none is needed.
FROM ${NODE_IMAGE} AS client
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=optional --ignore-scripts --no-audit --no-fund
COPY prisma.config.ts ./
COPY prisma/schema.prisma prisma/
COPY scripts/generate-prisma-client.mjs scripts/
RUN node scripts/generate-prisma-client.mjs

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
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
ENV NODE_ENV=production
WORKDIR /app
# Whoever gets into the process finds no package manager to bring more along.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx \
      /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
 && ln -s /app/src/cli/launcher.mjs /usr/local/bin/wagergate \
 # For GATEWAY_CONFIG=/etc/wagergate: two folders to mount, because a ConfigMap mounted as a folder
 # follows its changes and a single mounted file does not.
 && mkdir -p /etc/wagergate/gateway /etc/wagergate/operators \
 && ln -s gateway/gateway.yaml /etc/wagergate/gateway.yaml
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules node_modules/
COPY prisma/migrations prisma/migrations/
# A commented example; mount your own over it, or name its place in GATEWAY_CONFIG.
COPY config config/
COPY src src/
COPY --from=client /app/src/store/prisma-client src/store/prisma-client/

# All files belong to root and none is written: the root file system may be read-only.
USER 1000:1000
EXPOSE 8080 9090
# The internal listener is on the loopback unless ADMIN_HOST says otherwise.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
