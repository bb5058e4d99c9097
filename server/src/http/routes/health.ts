import type { FastifyInstance } from 'fastify';
import { type DatabaseTrouble, notWritten } from '../../db/troubles.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { Drain } from '../../startup/drain.ts';

interface HealthDeps {
  readonly ehrs: ReadonlyMap<string, Pick<EhrConnection, 'isOpen' | 'health'>>;
  readonly http: { readonly ready_waits_for_emrs: boolean };
  /** Whether it is about to stop, and proxies are to send requests elsewhere. */
  readonly drain?: Pick<Drain, 'hasBegun'> | undefined;
  /** Whether the database responds and has every migration. */
  isReady(): Promise<boolean>;
  /** What keeps the database from working although it responds, or refuses connections. */
  databaseTrouble(): DatabaseTrouble | undefined;
}

/**
 * `/health/live`: the process is up. `/health/ready`: it can serve requests; its body names the EHRs that are not open, or paused,
 * and what cannot be written. A full disk alone does not make it 503: every gateway has the same database, and callers would get
 * the error of a proxy in place of one that says what to do.
 */
export function addHealth(app: FastifyInstance, { ehrs, http, drain, isReady, databaseTrouble }: HealthDeps): void {
  /** An EHR that is added later is none that the start waits for. */
  let hasStarted = !http.ready_waits_for_emrs;
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const stops = drain?.hasBegun ?? false;
    const isUp = !stops && (await isReady().catch(() => false));
    // One that operators have paused is not waited for.
    const paused = [...ehrs].filter(([, { health }]) => health().pause).map(([id]) => id);
    const notOpen = [...ehrs].filter(([id, { isOpen }]) => !isOpen && !paused.includes(id)).map(([id]) => id);
    hasStarted ||= notOpen.length === 0;
    const ready = isUp && hasStarted;
    const trouble = databaseTrouble();
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ok' : stops ? 'stopping' : 'unavailable',
      database_trouble: trouble ?? null,
      not_written: notWritten(trouble),
      emrs_not_open: notOpen,
      emrs_paused: paused,
    });
  });
}
