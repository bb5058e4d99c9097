import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { AppDeps } from './app.ts';
import { addErrorHandler } from './error-handler.ts';
import { addHeaders } from './headers.ts';
import { addHealth } from './health.ts';
import { QuietLogController } from './log-controller.ts';
import { trackMethods } from './method-not-allowed.ts';
import { addMetrics } from './metrics.ts';
import { requestId } from './request-id.ts';

/** Builds the server of `http.operations_port`: `/health` and `/metrics` of this process. Does not listen yet. */
export async function buildOperationsApp(
  deps: Pick<AppDeps, 'log' | 'metrics' | 'ehrs' | 'http' | 'isStopping' | 'isReady' | 'databaseTrouble'>,
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
