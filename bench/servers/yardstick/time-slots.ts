import type { FastifyInstance } from 'fastify';
import { timeslotListSchema, timeslotSchema } from '../../../server/src/timeslots/contract.ts';
import type { Run } from './statements.ts';

const select = `
  SELECT "start", "end", resource_id, healthcare_service_id, NULL AS modality FROM yardstick.time_slots
  WHERE resource_id = $1 AND starts_at >= $2 AND ends_at <= $3 ORDER BY starts_at, healthcare_service_id LIMIT $4`;

/** `/timeslots`: one SELECT of rows as the response shows them. `/ready`: the same response as bytes that are ready. */
export function addTimeSlotRoute(app: FastifyInstance, run: Run): void {
  app.addSchema(timeslotSchema);
  app.get<{ Querystring: { resource_id: string; start: string; end: string; limit: string } }>(
    '/timeslots',
    { schema: { response: { 200: timeslotListSchema } } },
    async ({ query }) => {
      const { resource_id, start, end, limit } = query;
      const timeslots = await run('slots', select, [`emr_id:${resource_id}`, start, end, limit]);
      return { timeslots, next_cursor: null };
    },
  );
  let ready: Promise<string> | undefined;
  app.get('/ready', async ({ raw }, reply) => {
    ready ??= app.inject((raw.url ?? '').replace('/ready', '/timeslots')).then(({ payload }) => payload);
    return reply.type('application/json; charset=utf-8').send(await ready);
  });
}
