import type { Logger } from 'pino';
import type { EhrChangeMetrics } from '../appointments/ehr-changes/metrics.ts';
import { readsChanges } from '../appointments/ehr-changes/read-changes.ts';
import type { FileExport } from '../audit/export/file-export.ts';
import type { AuditMetrics } from '../audit/metrics.ts';
import { createMonths, dropMonths } from '../audit/months.ts';
import { deleteOldActivity } from '../audit/old-activity.ts';
import type { RefreshableClients } from '../clients/client-registry.ts';
import { noteGrants } from '../clients/configured-grants.ts';
import type { Configuration } from '../config/configuration.ts';
import type { ConfiguredService } from '../config/schema/services.ts';
import { freeOrphanedItems } from '../confirmations/orphaned-items.ts';
import { renewProofs } from '../console/accounts/renew-proofs.ts';
import type { DatabaseClock } from '../db/clock.ts';
import type { Db } from '../db/kysely.ts';
import { watchCertificates } from '../ehr/certificates.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import type { CallHistory } from '../ehr/guard/call-history.ts';
import type { Pauses } from '../ehr/pauses.ts';
import { resealEmrs } from '../ehr/stored/stored-emrs.ts';
import { publishEvents } from '../events/publish-events.ts';
import { recordEhrs } from '../history/ehr-recorder.ts';
import { describeError } from '../log/describe-error.ts';
import type { Asker } from '../slot-search/ask.ts';
import { lookForOne } from '../timeslots/watches/look.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { fanOut } from '../webhooks/fan-out.ts';
import { writeHeartbeats } from '../webhooks/heartbeats.ts';
import type { WebhookMetrics } from '../webhooks/metrics.ts';
import { continueReplays } from '../webhooks/replay.ts';
import { resealEndpoints } from '../webhooks/reseal-endpoints.ts';
import type { WriteServices } from '../writes/write-kind.ts';
import type { ProcessActivity } from './activity.ts';
import { deleteOldData } from './delete-old-data.ts';
import type { DueJob } from './due-jobs.ts';
import { type DueWork, readDueWork } from './due-work.ts';
import { resumeConfigured, suspendUnconfigured } from './due-writes.ts';
import { watchAvailability } from './ehr-availability.ts';
import { ehrChangesRound } from './ehr-changes-round.ts';
import { ehrRound } from './ehr-round.ts';
import { extendSchedules } from './extend-schedules.ts';
import { defaultIntervals, type Intervals } from './intervals.ts';
import type { LoopPause } from './loop.ts';
import { readGauges } from './read-gauges.ts';
import type { RoundMetrics } from './round-metrics.ts';
import { watchClock } from './watch-clock.ts';

const resealedAtOnce = 100;
const rowsDeletedAtOnce = 1_000;

/** The background jobs. None rejects, or they log it themselves. */
interface BackgroundWork {
  /** Those that run regularly. */
  readonly regular: readonly RegularJob[];
  /** Those that run regularly for one EHR, while it is configured. */
  readonly ofEhr: (emr: string) => readonly RegularJob[];
  /** Those that run when something is due, for the EHRs that there are now. */
  readonly whenDue: () => readonly DueJob<DueWork>[];
  readonly look: () => Promise<DueWork>;
  /** Milliseconds between two looks of an idle process. */
  readonly idle: number;
}

interface RegularJob {
  readonly pauseMilliseconds: LoopPause;
  /** Returns whether there is more to do. Logs failures and does not reject. */
  round(): Promise<boolean>;
}

export interface BackgroundDependencies {
  /** The connection that publishes events. */
  readonly publishing: Db;
  readonly retention: Configuration['retention'];
  readonly pauses: Pauses;
  /** Takes the revision of the stored EHRs as it is now. */
  readonly followStored: (revision: string | null) => void;
  /** Ids of stored EHRs that this gateway cannot use. Another one may use them. */
  readonly unusedStored: () => readonly string[];
  /** Checks an EHR whose daily check is due. Returns whether there was one. */
  readonly checkDueEhr: () => Promise<boolean>;
  readonly clients: RefreshableClients;
  readonly slots: Asker;
  /** Services that mean the same in all care units, as they are configured now. */
  sameServices(): readonly ConfiguredService[];
  readonly activity: ProcessActivity;
  /** Instead of the usual ones. */
  readonly intervals?: Partial<Intervals> | undefined;
  readonly dispatcher: Dispatcher;
  readonly auditMetrics: AuditMetrics;
  /** See `watchProofs`. */
  readonly watchProofs: (db: Db) => Promise<void>;
  /** Absent: the audit trail is not written to a file. */
  readonly fileExport?: FileExport | undefined;
  readonly webhookMetrics: WebhookMetrics;
  readonly ehrChangeMetrics: EhrChangeMetrics;
  readonly roundMetrics: RoundMetrics;
  /** The calls to each EHR in the last hour. */
  readonly calls: CallHistory;
  readonly clock: DatabaseClock;
  readonly log: Logger;
}

/** The background jobs: one for each EHR, so that a slow EHR delays no other, and those that call no EHR. */
export function backgroundWork(
  services: WriteServices,
  {
    publishing,
    retention,
    activity,
    pauses,
    followStored,
    unusedStored,
    checkDueEhr,
    clients,
    slots,
    sameServices,
    dispatcher,
    auditMetrics,
    watchProofs,
    fileExport,
    webhookMetrics,
    ehrChangeMetrics,
    roundMetrics,
    calls,
    clock,
    log,
    intervals: changed,
  }: BackgroundDependencies,
): BackgroundWork {
  const { db, keys, ehrs, outbox } = services;
  const intervals = { ...defaultIntervals, ...changed };
  const emrs = () => [...ehrs.keys()];
  /** `round` returns whether there is more to do. */
  const repeating = (pauseMilliseconds: LoopPause, name: string, round: () => Promise<boolean>): RegularJob => ({
    pauseMilliseconds,
    round: () =>
      round().catch((error) => {
        log.error({ cause: describeError(error) }, `${name} failed`);
        return false;
      }),
  });
  const guarded = (pauseMilliseconds: LoopPause, name: string, work: () => Promise<void>): RegularJob =>
    repeating(pauseMilliseconds, name, async () => {
      await work();
      return false;
    });
  const whenDue = (
    pauseMilliseconds: number,
    name: string,
    isDue: (due: DueWork) => boolean,
    round: () => Promise<boolean>,
    about: { readonly emr?: string } = {},
  ): DueJob<DueWork> => ({
    id: `${name} ${about.emr ?? ''}`,
    pauseMilliseconds,
    isDue,
    round,
    failed: (error) => log.error({ ...about, cause: describeError(error) }, `${name} failed`),
  });
  const allOf = (work: () => Promise<void>) => () => work().then(() => false);
  const dueOfEhr = (ehr: EhrConnection) => [
    whenDue(
      intervals.ehr,
      'background round',
      (due) => due.ehrs.has(ehr.id) && !pauses.of(ehr.id),
      // Asked again: without a look, all jobs are due.
      async () => !pauses.of(ehr.id) && roundMetrics.timed(ehr.id, () => ehrRound(services, ehr, log)),
      { emr: ehr.id },
    ),
    whenDue(
      intervals.changes,
      'reporting changes in the EHR',
      (due) => due.changes.has(ehr.id) && readsChanges(ehr) && !pauses.of(ehr.id),
      async () => !pauses.of(ehr.id) && readsChanges(ehr) && ehrChangesRound(services, ehr, log),
      { emr: ehr.id },
    ),
  ];
  const turns = new Set<string>();
  const dueJobs = [
    whenDue(
      intervals.events,
      'publishing events',
      (due) => due.events,
      () => publishEvents(publishing, fanOut(clients)),
    ),
    whenDue(
      intervals.events,
      'replaying events',
      (due) => due.replays,
      () => continueReplays(db, clients),
    ),
    whenDue(
      intervals.events,
      'delivering events',
      (due) => due.deliveries,
      () => dispatcher.round(),
    ),
    whenDue(
      intervals.events,
      'writing heartbeats',
      (due) => due.heartbeats,
      () => writeHeartbeats(db),
    ),
    whenDue(
      intervals.sending,
      'looking for messages',
      (due) => due.messages,
      allOf(() => outbox.send()),
    ),
    whenDue(
      intervals.watches,
      'looking for watched time slots',
      (due) => due.watches,
      () => lookForOne({ db, keys, ehrs, clients, slots, sameServices, turns }),
    ),
    whenDue(
      intervals.messages,
      'taking over messages',
      (due) => due.earlierMessages,
      allOf(() => outbox.adopt()),
    ),
    whenDue(
      intervals.messages,
      'marking delayed messages',
      (due) => due.lateMessages,
      () => outbox.markDelayed(),
    ),
  ];
  const ofEhr = (emr: string) => {
    /** The connection as it is now. */
    const work = async (job: (ehr: EhrConnection) => Promise<void>) => {
      const ehr = ehrs.get(emr);
      if (ehr) await job(ehr);
    };
    const watch = watchAvailability(db);
    return [
      guarded(intervals.schedules, 'extending schedules', () =>
        work(async (ehr) => {
          if (!pauses.of(emr)) await extendSchedules(ehr, log);
        }),
      ),
      guarded(intervals.availability, 'recording the availability of an EHR', () => work(watch)),
    ];
  };
  const regular = [
    guarded(intervals.gauges, 'reading metrics of changes in EHRs', () => ehrChangeMetrics.refresh(db, emrs())),
    guarded(intervals.clients, 'reading clients', () => clients.refresh()),
    guarded(intervals.grants, 'noting the grants of the configuration', () => noteGrants(db, clients.configured())),
    guarded(intervals.clock, "reading the database's clock", watchClock(clock, log)),
    guarded(
      intervals.certificates,
      'reading TLS files',
      watchCertificates(() => ehrs.values(), clock.now, log),
    ),
    repeating(intervals.checks, 'the daily check of an EHR', checkDueEhr),
    guarded(
      intervals.history,
      'recording the history of EHRs',
      recordEhrs({ db, ehrs: () => ehrs.values(), calls, now: () => clock.now().getTime() }),
    ),
    guarded(intervals.orphans, 'freeing what ended operations have reserved', async () => {
      const freed = await freeOrphanedItems(db);
      if (freed > 0) log.warn({ freed }, 'items of ended operations freed');
    }),
    guarded(intervals.gauges, 'reading metrics of webhooks', () => webhookMetrics.refresh(db)),
    guarded(intervals.reseal, 'encrypting webhook endpoints again', async () => {
      for (const id of await resealEndpoints(db, keys, resealedAtOnce))
        log.error({ endpoint_id: id }, 'webhook endpoint unreadable: its secret key is unknown');
    }),
    guarded(intervals.reseal, 'encrypting stored EHRs again', async () => {
      for (const emr of await resealEmrs(db, keys))
        log.error({ emr }, 'stored EHR unreadable: its secret key is unknown, or somebody else has changed the row');
    }),
    guarded(intervals.reseal, 'proving rows again', () => renewProofs(db, keys)),
    guarded(intervals.proofs, 'looking for rows without a proof', () => watchProofs(db)),
    repeating(intervals.accesses, 'linking the audit trail', () => services.audit.linkAccesses()),
    repeating(intervals.activity, 'linking the activity of operators', () => services.audit.linkActivity()),
    ...(fileExport ? [repeating(intervals.accesses, 'exporting the audit trail', () => fileExport.round())] : []),
    guarded(intervals.gauges, 'reading metrics of the audit trail', () => auditMetrics.refresh(db)),
    guarded(intervals.anchor, 'anchoring the audit trail', () => services.audit.anchor()),
    guarded(
      () => (activity.isIdle() ? Math.max(intervals.deletion, intervals.idleDeletion) : intervals.deletion),
      'deletion',
      () => deleteOldData(db, retention),
    ),
    guarded(intervals.months, 'creating months of the audit trail', () => createMonths(db)),
    guarded(intervals.months, 'dropping months of the audit trail', () => dropMonths(db, keys, retention.audit_days)),
    repeating(intervals.deletion, 'deletion of the activity of operators', () =>
      deleteOldActivity(db, keys, rowsDeletedAtOnce),
    ),
    guarded(intervals.gauges, 'reading metrics of operations', async () => {
      for (const { id, emr } of await suspendUnconfigured(db, [...emrs(), ...unusedStored()])) {
        services.writeMetrics.suspended({ id, emr });
      }
      await resumeConfigured(db, emrs());
      roundMetrics.gauges(await readGauges(db, emrs()));
    }),
  ];
  const look = async () => {
    const apply = pauses.reading();
    const due = await readDueWork(publishing, emrs());
    apply(due.pauses);
    followStored(due.storedRevision);
    // Another gateway may be killed while it sends one: its code must not wait for an idle look.
    if (due.queuedMessages) activity.note();
    return due;
  };
  return {
    regular,
    ofEhr,
    whenDue: () => [...[...ehrs.values()].flatMap(dueOfEhr), ...dueJobs],
    look,
    idle: intervals.idle,
  };
}
