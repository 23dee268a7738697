# The gateway in a container, installed from the packed packages. docs/guides/gateway.md, section "Docker", explains its use.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
# The browser server needs Chromium, which the image does not have.
RUN npm run pack -- /packed && rm /packed/unfold-mcp-browser-*.tgz

FROM node:24-bookworm-slim
WORKDIR /opt/unfold
RUN --mount=type=bind,from=build,source=/packed,target=/packed --mount=type=cache,target=/npm-cache \
    npm install --cache /npm-cache --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error /packed/*.tgz
RUN mkdir -p /config /data && chown node:node /config /data
ENV NODE_ENV=production
ENV PATH=/opt/unfold/node_modules/.bin:$PATH
ENV UNFOLD_HOME=/data
USER node
WORKDIR /config
EXPOSE 7420
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:7420/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["unfold"]
# On 0.0.0.0 the gateway starts only if unfold.json has a token.
CMD ["serve", "unfold.json", "--host", "0.0.0.0"]
