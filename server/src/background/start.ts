import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.ts';
import { describeError } from '../http/describe-error.ts';
import { parkUnconfigured } from '../operations/due.ts';
import type { OperationServices } from '../operations/services.ts';
import { deleteServed } from './deletion.ts';
import { ehrRound } from './ehr-round.ts';
import { type Loop, startLoop } from './loop.ts';
import { readStanding } from './standing.ts';

const ehrPauseMilliseconds = 1_000;
const messagesPauseMilliseconds = 2_000;
const deletionPauseMilliseconds = 10_000;
const standingPauseMilliseconds = 10_000;

/**
 * What runs beside the requests: a loop for each EHR, so that a slow one delays nobody, and one for whatever asks none.
 */
export function startBackground(services: OperationServices, retention: Configuration['retention'], log: Logger): Loop {
  const { db, ehrs, outbox } = services;
  const emrs = [...ehrs.keys()];
  const guarded = (name: string, work: () => Promise<void>) => async () => {
    await work().catch((error) => log.error({ cause: describeError(error) }, `${name} failed`));
    return false;
  };
  const loops = [
    ...[...ehrs.values()].map((ehr) => startLoop(ehrPauseMilliseconds, () => ehrRound(services, ehr, log))),
    startLoop(
      messagesPauseMilliseconds,
      guarded('resuming messages', () => outbox.resume()),
    ),
    startLoop(
      deletionPauseMilliseconds,
      guarded('deletion', () => deleteServed(db, retention)),
    ),
    startLoop(
      standingPauseMilliseconds,
      guarded('reading the standing of operations', async () => {
        for (const { id, emr } of await parkUnconfigured(db, emrs)) {
          services.operationMetrics.parked({ operationId: id, emr });
        }
        services.operationMetrics.standing(await readStanding(db, emrs));
      }),
    ),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
