// Exits with 0 if the gateway of this container is ready. Plain JavaScript that loads nothing, because it runs every few seconds.
const url = process.env.HEALTH_URL || `http://127.0.0.1:${process.env.PORT || 8080}/health/ready`;
const response = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exitCode = response?.ok ? 0 : 1;
