import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { addAppointmentRoutes } from './appointments/routes.ts';
import { addressesIn } from './config/address-ranges.ts';
import type { Deps } from './deps.ts';
import { addEmrRoutes } from './emrs/routes.ts';
import { addHealthcareServiceRoutes } from './healthcare-services/routes.ts';
import { addAccess } from './http/access.ts';
import { addConnectionLimits } from './http/connection-limits.ts';
import { addDocs } from './http/docs.ts';
import { addErrorHandler, frameworkProblem, sendProblem } from './http/error-handler.ts';
import { type Exchange, watchExchange } from './http/exchanges.ts';
import { answerFramingError } from './http/framing-errors.ts';
import { addConnectionCloseOnStop, addHeaders, setHeaders } from './http/headers.ts';
import { addHealth } from './http/health.ts';
import { addJsonBody } from './http/json-body.ts';
import { addLimits } from './http/limits.ts';
import { trackMethods } from './http/method-not-allowed.ts';
import { addMetrics, createRequestMetrics } from './http/metrics.ts';
import { addOpenApi, addOpenApiRoutes } from './http/openapi.ts';
import { requestId } from './http/request-id.ts';
import { logRefusal, logRequest } from './http/request-log.ts';
import { addRequestSyntax } from './http/request-syntax.ts';
import { addUnreadBody } from './http/unread-body.ts';
import { addValidation, compilersFactory, formats } from './http/validation.ts';
import { addDemoMailboxRoutes } from './messages/demo-mailbox-routes.ts';
import { addPatientRoutes } from './patients/routes.ts';
import { addProblemPages } from './problems/routes.ts';
import { addResourceRoutes } from './resources/routes.ts';
import { addTimeslotRoutes } from './timeslots/routes.ts';

const longestHeaderSection = 32 * 1024;
/** Milliseconds in which the head of a request must have arrived, or less where the whole request has less. */
const headersTimeout = 15_000;
/** Milliseconds without a byte, either way: a caller that does not take its answer. No operation is as long as that. */
const idleTimeout = 600_000;
/** An identifier of 200 characters, each up to four bytes, percent-encoded. */
const longestPathParameter = 200 * 4 * 3;

/** Builds the HTTP interface from what it needs. Nothing listens yet. */
export async function buildApp(deps: Deps): Promise<FastifyInstance> {
  const requestMetrics = createRequestMetrics(deps.metrics);
  const watch = (exchange: Exchange) =>
    watchExchange(exchange, (end) => {
      logRequest(exchange, end);
      requestMetrics.ended(exchange, end);
    });
  const requestTimeout = deps.http.request_timeout_seconds * 1000;
  const isTrustedProxy = addressesIn(deps.http.trusted_proxies);
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    http: {
      maxHeaderSize: longestHeaderSection,
      headersTimeout: Math.min(headersTimeout, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: 1_000,
    },
    requestTimeout,
    connectionTimeout: idleTimeout,
    trustProxy: isTrustedProxy,
    routerOptions: { maxParamLength: longestPathParameter },
    schemaController: { compilersFactory },
    serializerOpts: { ajv: { formats } },
    clientErrorHandler: (error, socket) =>
      answerFramingError(error, socket, (requestId, problem, end) => {
        logRefusal(app.log, requestId, problem, end);
        requestMetrics.refused(end);
      }),
    frameworkErrors: (error, request, reply) => {
      watch({ request, reply });
      setHeaders(request, reply);
      sendProblem(frameworkProblem(error), request, reply);
    },
  });
  const methods = trackMethods(app);
  addErrorHandler(app);
  app.addHook('onRequest', async (request, reply) => watch({ request, reply }));
  addHeaders(app);
  addConnectionCloseOnStop(app);
  addRequestSyntax(app);
  addUnreadBody(app);
  addConnectionLimits(
    app,
    {
      maxConnections: deps.http.max_connections,
      maxConnectionsPerAddress: deps.http.max_connections_per_address,
      isTrustedProxy,
    },
    deps.metrics,
  );
  addMetrics(app, deps.metrics);
  addJsonBody(app);
  addValidation(app);
  await addOpenApi(app);
  app.decorate('operationServices', deps.services);
  app.decorate('identifierHeaders', deps.identifierHeaders);
  addAccess(app, { ...deps, failedCredentials: deps.limits.failed_credentials });
  await addLimits(app, deps.limits);

  addEmrRoutes(app, deps);
  addPatientRoutes(app);
  addResourceRoutes(app, deps);
  addHealthcareServiceRoutes(app, deps);
  addTimeslotRoutes(app, deps);
  addAppointmentRoutes(app, deps);

  addOpenApiRoutes(app);
  await addDocs(app);
  await addProblemPages(app);
  if (deps.mailbox) addDemoMailboxRoutes(app, deps.mailbox);
  addHealth(app, deps.isReady);
  methods.finish();
  await app.ready();
  return app;
}
