import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { AppDeps } from './app.ts';
import { QuietLogController } from './observed/log-controller.ts';
import { addMetrics } from './observed/metrics.ts';
import { addHeaders, requestId } from './protocol/each-request.ts';
import { addErrorHandler } from './protocol/error-handler.ts';
import { addHealth } from './routes/health.ts';
import { trackMethods } from './routes/method-not-allowed.ts';

/** Builds the server of `http.operations_port`: `/health` and `/metrics` of this process. Does not listen yet. */
export async function buildOperationsApp(
  deps: Pick<AppDeps, 'log' | 'metrics' | 'ehrs' | 'http' | 'drain' | 'isReady' | 'databaseTrouble'>,
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new QuietLogController(),
    genReqId: requestId,
    forceCloseConnections: true,
  });
  const methods = trackMethods(app);
  addErrorHandler(app, methods);
  addHeaders(app);
  addMetrics(app, deps.metrics);
  addHealth(app, deps);
  methods.finish();
  await app.ready();
  return app;
}
