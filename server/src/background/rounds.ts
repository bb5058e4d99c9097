import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.ts';
import { describeError } from '../log/describe-error.ts';
import { resumeConfigured, suspendUnconfigured } from '../operations/due.ts';
import type { OperationServices } from '../operations/services.ts';
import { deleteServed } from './deletion.ts';
import { ehrRound } from './ehr-round.ts';
import { readStanding } from './standing.ts';

const ehrPauseMilliseconds = 1_000;
const messagesPauseMilliseconds = 2_000;
const deletionPauseMilliseconds = 10_000;
const standingPauseMilliseconds = 10_000;

/** One thing that is done again and again beside the requests. */
export interface BackgroundWork {
  readonly pauseMilliseconds: number;
  /** Answers whether there is more to do. Tells of its own failures. */
  round(): Promise<boolean>;
}

/** What runs beside the requests: each EHR by itself, so that a slow one delays nobody, and whatever asks none. */
export function backgroundWork(
  services: OperationServices,
  retention: Configuration['retention'],
  log: Logger,
): readonly BackgroundWork[] {
  const { db, ehrs, outbox } = services;
  const emrs = [...ehrs.keys()];
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
      round: () => ehrRound(services, ehr, log),
    })),
    guarded(messagesPauseMilliseconds, 'resuming messages', () => outbox.resume()),
    guarded(deletionPauseMilliseconds, 'deletion', () => deleteServed(db, retention)),
    guarded(standingPauseMilliseconds, 'reading the standing of operations', async () => {
      for (const { id, emr } of await suspendUnconfigured(db, emrs)) {
        services.operationMetrics.suspended({ operationId: id, emr });
      }
      await resumeConfigured(db, emrs);
      services.operationMetrics.standing(await readStanding(db, emrs));
    }),
  ];
}
