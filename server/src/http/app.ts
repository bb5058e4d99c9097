import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { addEndpoint } from '../api/add-endpoint.ts';
import type { EndpointDeps, EndpointGroup } from '../api/endpoint.ts';
import { addValidation } from '../api/validation.ts';
import { createAccessTokens } from '../clients/access-tokens.ts';
import { createRequestBudget } from '../clients/request-budget.ts';
import { createSharedFailures } from '../clients/shared-failures.ts';
import { createWrongNameMetrics } from '../clients/wrong-name-metrics.ts';
import type { Configuration } from '../config/configuration.ts';
import type { DemoClient } from '../config/file/demo.ts';
import { addressesIn } from '../config/rules/address-ranges.ts';
import type { ConsoleParts } from '../console/frame/page.ts';
import type { Db } from '../db/kysely.ts';
import type { DatabaseTrouble } from '../db/troubles.ts';
import { documentEndpoints } from '../documents/routes.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import { emrSchema } from '../emrs/contract.ts';
import type { DemoMailbox } from '../messages/providers/demo-mailbox.ts';
import type { ReceiveReceipt } from '../messages/receive-receipt.ts';
import type { KeySets } from '../oauth/key-sets.ts';
import { problemSchema, reasonSchema } from '../problems/problem-document.ts';
import type { Drain } from '../startup/drain.ts';
import { addAccess } from './access.ts';
import { addQueryTypes, compilersFactory, formats } from './body/compilers.ts';
import { addJsonBody } from './body/json-body.ts';
import { addDemoDocuments } from './demo/documents.ts';
import { addDemoMailboxRoutes } from './demo/mailbox-routes.ts';
import { nativeEndpoints, ordinaryGroups } from './endpoints.ts';
import { addConnectionLimits } from './limits/connection-limits.ts';
import { addLimits, limitClient } from './limits/limits.ts';
import { rejections } from './limits/rejected-credentials.ts';
import { addWaitingCallers, watchPauses } from './limits/waiting-callers.ts';
import { QuietLogController } from './observed/log-controller.ts';
import { addMetrics } from './observed/metrics.ts';
import { addTracing, createRequestObserver } from './observed/observe-requests.ts';
import { addDocs } from './openapi/docs.ts';
import { addOpenApiRoutes } from './openapi/openapi-routes.ts';
import { addPageLinks } from './pages/links.ts';
import { addProblemPages } from './pages/problem-page.ts';
import { addStartPage } from './pages/start-page-routes.ts';
import { addPageStyle } from './pages/style.ts';
import { addDiscoveryOrigins } from './protocol/discovery-origins.ts';
import {
  addConnectionCloseOnStop,
  addHeaders,
  addRequestSyntax,
  addUnreadBody,
  requestId,
  routedUrl,
  setHeaders,
} from './protocol/each-request.ts';
import { addErrorHandler, frameworkProblem, sendProblem } from './protocol/error-handler.ts';
import { answerFramingError } from './protocol/framing-errors.ts';
import { addBulkPublish } from './routes/bulk-publish.ts';
import { addConsole } from './routes/console-routes.ts';
import { addFhirFaceRoutes } from './routes/fhir-face.ts';
import { addHealth } from './routes/health.ts';
import { trackMethods } from './routes/method-not-allowed.ts';
import { addPatientPages } from './routes/patient-page-routes.ts';
import { addReceiptRoutes } from './routes/receipt-routes.ts';
import { addReload, type Reload } from './routes/reload.ts';
import { addTokenEndpoint } from './routes/token-endpoint.ts';
import { addUploadBodies } from './uploads/upload-bodies.ts';

const longestHeaderSection = 32 * 1024;
/** Milliseconds until the head of a request must have arrived. Shorter if the time-out of the whole request is. */
const headersTimeout = 15_000;
/**
 * Milliseconds without a byte in either direction, for example because the caller does not read the response. Longer
 * than any request.
 */
const idleTimeout = 600_000;
/** An identifier of 200 characters, each up to four bytes, percent-encoded. */
const longestPathParameter = 200 * 4 * 3;

/** What the console has in common with the rest of the interface. */
type SharedConsoleDeps = 'services' | 'slots' | 'sameServices' | 'webhooks' | 'log';

/** What the HTTP interface depends on. */
export interface AppDeps
  extends Omit<EndpointDeps, 'wrongNames' | 'countRequest' | 'endpoints' | 'publicUrl' | 'tokenUrl'> {
  readonly log: Logger;
  readonly metrics: Registry;
  readonly ehrs: EhrRegistry;
  /** Set if the configuration delivers messages to a demo mailbox. */
  readonly mailbox: DemoMailbox | undefined;
  /** Set if providers report what becomes of messages. */
  readonly receiveReceipt?: ReceiveReceipt | undefined;
  /** Set in the demo: its pages show the credentials. */
  readonly demoClient?: DemoClient | undefined;
  readonly limits: Configuration['limits'];
  readonly documents: Configuration['documents'];
  readonly http: Configuration['http'];
  /** The connections with which processes share limits. */
  readonly limitsDb: Db;
  readonly keySets: KeySets;
  /** The time of the database. */
  now(): Date;
  /** Absent: no console. */
  readonly console?: Omit<ConsoleParts, SharedConsoleDeps> | undefined;
  /** Whether it is about to stop: it still serves requests, and closes each connection with its response. */
  readonly drain?: Pick<Drain, 'hasBegun'> | undefined;
  /** Tells that somebody has sent a request that can begin work. */
  readonly noteRequest?: () => void;
  /** Reads the configuration file again. Absent: there is none. */
  readonly reload?: Reload | undefined;
  isReady(): Promise<boolean>;
  /** What keeps the database from working. */
  databaseTrouble(): DatabaseTrouble | undefined;
}

/**
 * Builds the HTTP interface. Does not listen yet.
 *
 * @param prepare what to add to the server before the endpoints
 */
export async function buildApp(
  deps: AppDeps,
  prepare: (app: FastifyInstance) => Promise<void> = async () => undefined,
): Promise<FastifyInstance> {
  const observer = createRequestObserver(deps.metrics, deps.noteRequest);
  const requestTimeout = deps.http.request_timeout_seconds * 1000;
  const pauses = watchPauses();
  const isTrustedProxy = addressesIn(deps.http.trusted_proxies);
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new QuietLogController(),
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
    rewriteUrl: routedUrl,
    routerOptions: { maxParamLength: longestPathParameter },
    schemaController: { compilersFactory },
    serializerOpts: { ajv: { formats } },
    clientErrorHandler: (error, socket) =>
      answerFramingError(error, socket, {
        pauses,
        ended: (requestId, problem, end) => observer.rejected(app.log, requestId, problem, end),
      }),
    frameworkErrors: (error, request, reply) => {
      observer.watch(request, reply);
      setHeaders(request, reply);
      Promise.resolve(sendProblem(frameworkProblem(error), request, reply)).catch(() => reply.raw.destroy());
    },
  });
  const methods = trackMethods(app);
  addErrorHandler(app, methods);
  addPageLinks(app, deps);
  app.addHook('onRequest', observer.onRequest);
  addTracing(app);
  addWaitingCallers(app, pauses);
  addHeaders(app);
  addDiscoveryOrigins(app, deps.http.discovery_origins);
  addConnectionCloseOnStop(app, deps.drain);
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
  const hasOperationsPort = deps.http.operations_port !== undefined;
  if (!hasOperationsPort) addMetrics(app, deps.metrics);
  addJsonBody(app);
  addValidation(app);
  addQueryTypes(app);
  await prepare(app);
  app.addSchema(reasonSchema);
  app.addSchema(problemSchema);
  const { db, keys } = deps.services;
  const publicAddress = () => deps.http.api_url ?? deps.http.public_url ?? loopbackAddress(app);
  const tokenUrl = () => `${publicAddress()}/api/oauth/token`;
  const { services, cursors, clients, slots, sameServices, webhooks, identifierHeaders } = deps;
  const countRequest = createRequestBudget(deps.limitsDb, deps.limits.requests_per_minute);
  app.decorate('endpointDeps', {
    services,
    cursors,
    clients,
    slots,
    sameServices,
    countRequest,
    webhooks,
    identifierHeaders,
    wrongNames: createWrongNameMetrics(deps.metrics),
    endpoints: nativeEndpoints,
    publicUrl: publicAddress,
    tokenUrl,
  });
  const tokens = createAccessTokens({ keys, publicUrl: publicAddress, now: deps.now });
  const failedCredentials = deps.limits.failed_credentials;
  const countFailure = createSharedFailures(deps.limitsDb, keys, failedCredentials);
  const rejected = rejections({ ...deps, countFailure, failedCredentials });
  addAccess(app, { ...deps, tokens, rejections: rejected });
  await addLimits(app, countRequest);
  await addTokenEndpoint(app, {
    ...deps,
    db,
    tokens,
    tokenUrl,
    issuer: publicAddress,
    rejections: rejected,
    count: (clientId, reply) => limitClient(countRequest, clientId, reply),
  });

  for (const group of ordinaryGroups) addGroup(app, group);
  await app.register(async (scope) => {
    addUploadBodies(scope, { services: deps.services, maxBytes: deps.documents.max_bytes });
    addGroup(scope, documentEndpoints);
  });
  app.addSchema(emrSchema(nativeEndpoints));
  await addFhirFaceRoutes(app);
  addBulkPublish(app, deps.limits.page_requests_per_minute);

  addOpenApiRoutes(app);
  addPageStyle(app);
  await addStartPage(app, deps);
  await addDocs(app, deps.demoClient);
  await addProblemPages(app);
  if (deps.demoClient) await addDemoDocuments(app);
  if (deps.mailbox) await addDemoMailboxRoutes(app, deps.mailbox);
  const { public_url: publicUrl } = deps.http;
  if (publicUrl !== undefined) {
    await addPatientPages(app, { ...deps, publicUrl, requestsPerMinute: deps.limits.page_requests_per_minute });
  }
  if (deps.receiveReceipt) {
    await addReceiptRoutes(app, {
      receive: deps.receiveReceipt,
      requestsPerMinute: deps.limits.requests_per_minute,
    });
  }
  if (deps.console) {
    await addConsole(
      app,
      { ...deps.console, services, slots, sameServices, webhooks, log: deps.log },
      { requestsPerMinute: deps.limits.page_requests_per_minute, publicUrl },
    );
  }
  if (!hasOperationsPort) addHealth(app, deps);
  if (deps.reload) addReload(app, keys, deps.reload);
  methods.finish();
  await app.ready();
  return app;
}

/** The address at which this machine reaches the gateway, for one without a public address. Call it once the gateway listens. */
function loopbackAddress({ server }: FastifyInstance): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}

function addGroup(app: FastifyInstance, { schemas, endpoints }: EndpointGroup): void {
  for (const schema of schemas) app.addSchema(schema);
  for (const endpoint of endpoints) addEndpoint(app, endpoint);
}
