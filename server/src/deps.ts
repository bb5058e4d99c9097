import { type ConnectorModule, declareIdentifierTypes } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { createCursors } from './api/paging.ts';
import { createEhrChangeMetrics } from './appointments/ehr-changes/metrics.ts';
import { anchorEarlierChains } from './audit/anchors.ts';
import { prepareAuditKey } from './audit/audit-keys.ts';
import { createFileExport } from './audit/export/file-export.ts';
import { watchLostKeys } from './audit/lost-keys.ts';
import { createAuditMetrics } from './audit/metrics.ts';
import { Trail } from './audit/trail.ts';
import { createActivity } from './background/activity.ts';
import { releaseAllLeases } from './background/due-writes.ts';
import type { Intervals } from './background/intervals.ts';
import { createRoundMetrics } from './background/round-metrics.ts';
import { startBackground } from './background/start.ts';
import { measureClock } from './background/watch-clock.ts';
import type { RefreshableClients } from './clients/client-registry.ts';
import { openClientRegistry } from './clients/client-registry.ts';
import { noteGrants } from './clients/configured-grants.ts';
import { budgetsOf } from './clients/request-budget.ts';
import type { Configuration } from './config/configuration.ts';
import { type ConfigurationWatch, watchConfiguration } from './config/file/configuration-state.ts';
import type { DemoClient } from './config/file/demo.ts';
import { proveExisting, watchProofs } from './console/accounts/renew-proofs.ts';
import { createSignInMetrics } from './console/sign-in/sign-in-metrics.ts';
import { createDatabaseClock } from './db/clock.ts';
import type { Database } from './db/database.ts';
import { createDb } from './db/kysely.ts';
import { migrate, migrationsApplied } from './db/migrate.ts';
import { migrationSets } from './db/migration-sets.ts';
import type { DatabaseClient } from './db/pool.ts';
import { measurePools } from './db/pool-metrics.ts';
import { watchTroubles } from './db/troubles.ts';
import { measureCertificates } from './ehr/certificates.ts';
import { connectors } from './ehr/connectors.ts';
import { checkDueEhr } from './ehr/daily-check.ts';
import { figuresFrom } from './ehr/figures.ts';
import { recordCalls } from './ehr/guard/call-history.ts';
import { createEhrMetrics } from './ehr/guard/metrics.ts';
import { createPauses } from './ehr/pauses.ts';
import { openEhrs } from './ehr/registry.ts';
import { readStoredEmrs } from './ehr/stored/stored-emrs.ts';
import { createNotifier } from './fhir-face/subscriptions/notify.ts';
import type { AppDeps } from './http/app.ts';
import { describeError } from './log/describe-error.ts';
import { createOutbox } from './messages/create-outbox.ts';
import { messageFailureText } from './messages/failure-text.ts';
import { createMessageMetrics } from './messages/metrics.ts';
import { createPageLinks } from './messages/page-links.ts';
import { createReceiptUrls } from './messages/receipt-urls.ts';
import { receiveReceipts } from './messages/receive-receipt.ts';
import { createSenders } from './messages/senders.ts';
import { createKeySets } from './oauth/key-sets.ts';
import { type Configured, createReconfigure } from './reconfigure.ts';
import { requireKeyInUse, requireKnownKeys, type SecretKeys } from './secret-keys/require-known-keys.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { createAsker } from './slot-search/ask.ts';
import { assertNotStored, createSources, type Sources } from './sources.ts';
import { aroundOf, withStored } from './stored-emrs.ts';
import { createDispatcher } from './webhooks/dispatcher.ts';
import { createWebhookMetrics } from './webhooks/metrics.ts';
import { createDeliverySender } from './webhooks/send-delivery.ts';
import { writeKinds } from './write-kinds.ts';
import { createWriteMetrics } from './writes/metrics.ts';
import type { WriteServices } from './writes/write-kind.ts';

/** The gateway's dependencies, created once at start. */
export interface Deps extends AppDeps {
  readonly clients: RefreshableClients;
  /** Uses the EHRs and clients of another file: see `createReconfigure`. */
  readonly reconfigure: Sources['reconfigure'];
  /** The ids of all stored EHRs, also of drafts. */
  readonly storedIds: Sources['storedIds'];
  /** What became of the configuration file. */
  readonly watch: ConfigurationWatch;
  /** Stops background jobs and closes EHR connections. Call it after the last request; it does not close the database. */
  stop(): Promise<void>;
}

interface Setup {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly secretKeys: SecretKeys;
  /** Where the demo keeps its secret key. */
  readonly secretKeyFile?: string | undefined;
  readonly demoClient?: DemoClient | undefined;
  readonly log: Logger;
  readonly connectors?: readonly ConnectorModule[];
  /** Intervals of background jobs that are not the usual ones. */
  readonly intervals?: Partial<Intervals> | undefined;
}

/**
 * Migrates the database, connects to every EHR, and starts the background jobs.
 *
 * @throws {ConfigurationError} when the secret keys do not match the database
 */
export async function createDeps(setup: Setup): Promise<Deps> {
  const { configuration, database, secretKeys, secretKeyFile, log } = setup;
  declareIdentifierTypes(configuration.identifier_types);
  const modules = setup.connectors ?? connectors;
  const sets = migrationSets(modules);
  const keys = createKeyRing(secretKeys);
  const proving =
    (...tables: readonly string[]) =>
    async (client: DatabaseClient) => {
      await requireKeyInUse(client, secretKeys, secretKeyFile);
      await proveExisting(client, keys, tables);
    };
  const completions = new Map([
    ['crossward/36', proving('clients', 'operators', 'operator_sessions', 'operator_sign_in_links')],
    ['crossward/38', proving('webhook_endpoints')],
  ]);
  await migrate(database, sets, undefined, completions);
  const db = createDb(database);
  const background = createDb({ pool: database.background });
  await requireKnownKeys(db, secretKeys, secretKeyFile);
  const clock = createDatabaseClock(background);
  await clock.measure();
  const senders = await createSenders(configuration.messages, { db: background, keys, now: clock.now });
  const metrics = new Registry();
  measureClock(metrics, clock);
  measurePools(metrics, database);
  const troubles = watchTroubles(log, metrics);
  for (const pool of [database.pool, database.background, database.publishing]) pool.observeFailures(troubles.failed);
  const messageMetrics = createMessageMetrics(metrics, background);
  const receiptUrls = createReceiptUrls(senders, configuration.http.public_url);
  const outbox = createOutbox({
    db: background,
    keys,
    senders,
    metrics: messageMetrics,
    receiptUrls,
    log,
  });
  const recorded = recordCalls(createEhrMetrics(metrics), clock.now);
  const pauses = createPauses(background, clock.now);
  await pauses.refresh();
  const file: Configured = { configuration, connectors: modules };
  const stored = await readStoredEmrs(background, keys);
  assertNotStored(file, stored);
  const { configured, unused, known } = await withStored(file, stored.emrs, modules);
  const opened = await openEhrs(
    configured.configuration,
    modules,
    { database: database.pool, db: background, keys, metrics: recorded.metrics, pauses, now: clock.now, log },
    configured.stored,
  );
  const ehrs = opened.registry;
  measureCertificates(metrics, () => ehrs.values());
  if (database.kind === 'pglite') await releaseAllLeases(background);
  const countLostKeys = watchLostKeys(keys, log);
  const auditMetrics = createAuditMetrics(metrics, configuration.audit.export !== undefined, countLostKeys);
  const auditKey = await prepareAuditKey(db, keys);
  await countLostKeys(background);
  const audit = new Trail(db, {
    key: auditKey,
    readsWaitForDisk: configuration.audit.reads === 'flushed',
    background,
    log,
    metrics: auditMetrics,
  });
  const fileExport =
    configuration.audit.export &&
    createFileExport({ db: background, settings: configuration.audit.export, metrics: auditMetrics, log });
  const anchored = anchorEarlierChains(background, audit.key, log).catch((error) =>
    log.error({ cause: describeError(error) }, 'anchoring earlier audit chains failed'),
  );
  const used = { ...configured.configuration, emrs: opened.first.emrs };
  const clients = await openClientRegistry(used, background, keys, log);
  await noteGrants(background, clients.configured());
  const services: WriteServices = {
    db,
    keys,
    ehrs,
    outbox,
    pages: createPageLinks(keys, configuration.http.public_url),
    budgetsOf: budgetsOf(configuration.limits, clients),
    channels: outbox.channels,
    kinds: writeKinds,
    writeMetrics: createWriteMetrics(metrics, log),
    liveTokens: new Set<string>(),
    audit,
  };
  const keySets = createKeySets(configuration.webhooks);
  const webhookMetrics = createWebhookMetrics(metrics);
  const ehrChangeMetrics = createEhrChangeMetrics(metrics);
  const dispatcher = createDispatcher({
    db: background,
    keys,
    clients,
    sender: createDeliverySender(configuration.webhooks, clock.now),
    notify: createNotifier({ services: { ...services, db: background }, clients, http: configuration.http }),
    settings: configuration.webhooks,
    metrics: webhookMetrics,
    log,
  });
  let current: Configured = { ...configured, configuration: used };
  const configuredEmrs = () =>
    current.configuration.emrs.flatMap((emr) => {
      const module = current.connectors.find(({ name }) => name === emr.connector);
      return module ? [{ emr, module }] : [];
    });
  const reconfigure = createReconfigure({
    ehrs: opened,
    clients,
    db: background,
    migrated: modules,
    inUse: () => current,
    applied(next) {
      current = next;
      loops.followEhrs();
    },
    log,
  });
  const watch = watchConfiguration(metrics, clock.now);
  const sources = createSources({
    file,
    stored,
    unused: [...unused, ...opened.first.unused],
    known,
    migrated: modules,
    readStored: () => readStoredEmrs(background, keys),
    reconfigure,
    watch,
    log,
  });
  const activity = createActivity();
  const slots = createAsker(db, log);
  const sameServices = () => current.configuration.services;
  const loops = startBackground(
    { ...services, db: background },
    {
      publishing: createDb({ pool: database.publishing }),
      activity,
      retention: configuration.retention,
      pauses,
      followStored: sources.follow,
      unusedStored: () => watch.state.unused.map(({ emr }) => emr),
      checkDueEhr: () => checkDueEhr({ db: background, keys, database, emrs: configuredEmrs, ehrs }),
      clients,
      slots,
      sameServices,
      intervals: setup.intervals,
      dispatcher,
      auditMetrics,
      roundMetrics: createRoundMetrics(metrics),
      watchProofs: watchProofs(metrics, keys, log),
      fileExport,
      webhookMetrics,
      ehrChangeMetrics,
      calls: recorded.history,
      clock,
      log,
    },
  );
  return {
    log,
    metrics,
    reconfigure: sources.reconfigure,
    storedIds: sources.storedIds,
    watch,
    clients,
    ehrs,
    cursors: createCursors(keys),
    slots,
    sameServices,
    services,
    mailbox: senders.mailbox,
    receiveReceipt: receiptUrls && receiveReceipts({ db, senders, metrics: messageMetrics, receiptUrls, log }),
    demoClient: setup.demoClient,
    identifierHeaders: new Set(configuration.identifier_headers),
    limits: configuration.limits,
    documents: configuration.documents,
    http: configuration.http,
    webhooks: configuration.webhooks,
    limitsDb: background,
    keySets,
    now: clock.now,
    console: configuration.console && {
      settings: configuration.console,
      refreshClients: clients.refresh,
      refreshStored: sources.refresh,
      refreshPauses: pauses.refresh,
      configuration: () => ({
        configured: current.configuration,
        emrs: current.configuration.emrs,
        connectors: current.connectors,
        around: aroundOf(current.configuration),
      }),
      configurationState: watch.state,
      database: database.pool,
      troubles,
      clock,
      readFigures: figuresFrom(recorded.history),
      messageFailure: (channel, reason) => messageFailureText(reason, senders[channel]?.address),
      signIns: createSignInMetrics(metrics),
      now: clock.now,
    },
    noteRequest: activity.note,
    isReady: () => migrationsApplied(database, sets),
    databaseTrouble: troubles.current,
    async stop() {
      await loops.stop();
      await sources.stop();
      await anchored;
      await audit.close();
      await fileExport
        ?.close()
        .catch((error) => log.error({ cause: describeError(error) }, 'the end of the audit trail was not exported'));
      await dispatcher.stop();
      await outbox.stop();
      await keySets.close();
      troubles.stop();
      await opened.close();
    },
  };
}
