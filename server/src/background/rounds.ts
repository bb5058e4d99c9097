import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.ts';
import { describeError } from '../log/describe-error.ts';
import { resumeConfigured, suspendUnconfigured } from '../operations/due.ts';
import type { OperationServices } from '../operations/services.ts';
import { deleteOldData } from './delete-old-data.ts';
import { dueEhrs } from './due-ehrs.ts';
import { ehrRound } from './ehr-round.ts';
import { extendSchedules } from './extend-schedules.ts';
import { readGauges } from './read-gauges.ts';

const ehrPauseMilliseconds = 1_000;
const messagesPauseMilliseconds = 2_000;
const deletionPauseMilliseconds = 10_000;
const gaugesPauseMilliseconds = 10_000;
/** Slots are added for whole days, weeks ahead. */
const schedulesPauseMilliseconds = 15 * 60_000;

/** A background job. */
export interface BackgroundWork {
  readonly pauseMilliseconds: number;
  /** Returns whether there is more to do. Logs failures and does not reject. */
  round(): Promise<boolean>;
}

/** The background jobs: one for each EHR, so that a slow EHR delays no other, and those that call no EHR. */
export function backgroundWork(
  services: OperationServices,
  retention: Configuration['retention'],
  log: Logger,
): readonly BackgroundWork[] {
  const { db, ehrs, outbox } = services;
  const emrs = [...ehrs.keys()];
  const isDue = dueEhrs(db, emrs);
  const guarded = (pauseMilliseconds: number, name: string, work: () => Promise<void>): BackgroundWork => ({
    pauseMilliseconds,
    async round() {
      await work().catch((error) => log.error({ cause: describeError(error) }, `${name} failed`));
      return false;
    },
  });
  return [
    ...[...ehrs.values()].map((ehr) => ({
      pauseMilliseconds: ehrPauseMilliseconds,
      async round() {
        // If the database does not respond, the round fails too, and logs it.
        return (await isDue(ehr.id).catch(() => true)) && ehrRound(services, ehr, log);
      },
    })),
    ...[...ehrs.values()].map((ehr) =>
      guarded(schedulesPauseMilliseconds, 'extending schedules', () => extendSchedules(ehr, log)),
    ),
    guarded(messagesPauseMilliseconds, 'resuming messages', () => outbox.resume()),
    guarded(deletionPauseMilliseconds, 'deletion', () => deleteOldData(db, retention)),
    guarded(gaugesPauseMilliseconds, 'reading metrics of operations', async () => {
      for (const { id, emr } of await suspendUnconfigured(db, emrs)) {
        services.operationMetrics.suspended({ operationId: id, emr });
      }
      await resumeConfigured(db, emrs);
      services.operationMetrics.gauges(await readGauges(db, emrs));
    }),
  ];
}
