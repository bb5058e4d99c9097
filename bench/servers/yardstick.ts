// The yardstick: bare Fastify routes with the same response schemas, each with the fewest named prepared statements.
import Fastify from 'fastify';
import pg from 'pg';
import { Pool } from 'undici';
import { appointmentSchema, confirmationSchema } from '../../server/src/appointments/contract.ts';
import { readOptions, report } from './parent.ts';

export interface YardstickOptions {
  readonly databaseUrl: string;
  /** Where the route `/forward/*` sends its requests. */
  readonly forwardTo?: string;
}

const { databaseUrl, forwardTo } = readOptions<YardstickOptions>();
const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
const app = Fastify();

/** One statement, prepared on each connection at its first use. */
async function run(name: string, text: string, values: readonly unknown[]) {
  return pool.query({ name, text, values: [...values] });
}

await pool.query(`
  CREATE SCHEMA IF NOT EXISTS yardstick;
  CREATE TABLE IF NOT EXISTS yardstick.appointments (LIKE sandbox.appointments INCLUDING ALL);
  CREATE TABLE IF NOT EXISTS yardstick.time_slots (
    resource_id text NOT NULL, healthcare_service_id text NOT NULL, starts_at timestamptz NOT NULL, ends_at timestamptz NOT NULL,
    PRIMARY KEY (resource_id, starts_at, healthcare_service_id));
  INSERT INTO yardstick.time_slots
    SELECT r, s, t, t + interval '30 minutes'
    FROM unnest(ARRAY['r-1', 'r-2', 'r-3', 'r-4', 'r-5']) r, unnest(ARRAY['consultation', 'vaccination']) s,
      generate_series(date_trunc('day', now()) + interval '8 hours', now() + interval '100 days', interval '30 minutes') t
    WHERE extract(isodow FROM t) < 6 AND extract(hour FROM t) IN (8, 9, 10, 11, 13, 14, 15)
  ON CONFLICT DO NOTHING;
  ANALYZE yardstick.time_slots`);

app.addSchema(confirmationSchema);
app.addSchema(appointmentSchema);
const appointment = { 200: { $ref: 'Appointment#' }, 201: { $ref: 'Appointment#' } };

interface Row {
  readonly id: string;
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly comment: string | null;
}

function body(row: Row) {
  return {
    id: row.id,
    status: 'booked',
    start: row.starts_at.toISOString(),
    end: row.ends_at.toISOString(),
    comment: row.comment,
    patient_id: `emr_id:${row.patient_id}`,
    resource_id: `emr_id:${row.resource_id}`,
    healthcare_service_id: row.healthcare_service_id,
    emr: 'sandbox-no',
    care_unit_id: 'oslo-sentrum',
    confirmation: null,
    replaces_id: null,
    supersedes_id: null,
  };
}

const columns = 'id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, comment';

app.get<{ Params: { id: string } }>('/appointments/:id', { schema: { response: appointment } }, async ({ params }) => {
  const text = `SELECT ${columns} FROM sandbox.appointments WHERE emr = $1 AND id = $2`;
  const { rows } = await run('read', text, ['sandbox-no', params.id]);
  return body(rows[0]);
});

interface Creation {
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly start_time: string;
  readonly end_time: string;
}

function insert({ patient_id, resource_id, healthcare_service_id, start_time, end_time }: Creation) {
  const text = `
    INSERT INTO yardstick.appointments
      (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
    VALUES ('sandbox-no', gen_random_uuid(), 'oslo-sentrum', $1, $2, $3, $4, $5, 'booked') RETURNING ${columns}`;
  const times = [`${start_time}Z`, `${end_time}Z`];
  return run('insert', text, [patient_id, resource_id, healthcare_service_id, ...times]);
}

app.post<{ Body: Creation }>('/insert', { schema: { response: appointment } }, async (request, reply) => {
  const { rows } = await insert(request.body);
  return reply.code(201).send(body(rows[0]));
});

app.post<{ Body: Creation }>('/insert-and-update', { schema: { response: appointment } }, async (request, reply) => {
  const { rows } = await insert(request.body);
  const text = `UPDATE yardstick.appointments SET comment = $1 WHERE emr = 'sandbox-no' AND id = $2 RETURNING ${columns}`;
  const updated = await run('update', text, [null, rows[0].id]);
  return reply.code(201).send(body(updated.rows[0]));
});

app.get<{ Querystring: { resource_id: string; start: string; end: string; limit: string } }>(
  '/timeslots',
  {
    schema: {
      response: {
        200: {
          type: 'object',
          properties: {
            timeslots: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  start: { type: 'string' },
                  end: { type: 'string' },
                  resource_id: { type: 'string' },
                  healthcare_service_id: { type: 'string' },
                },
              },
            },
            next_cursor: { type: ['string', 'null'] },
          },
        },
      },
    },
  },
  async ({ query }) => {
    const text = `
      SELECT starts_at, ends_at, resource_id, healthcare_service_id FROM yardstick.time_slots
      WHERE resource_id = $1 AND starts_at >= $2 AND ends_at <= $3
      ORDER BY starts_at, healthcare_service_id LIMIT $4`;
    const { rows } = await run('slots', text, [query.resource_id, query.start, query.end, query.limit]);
    const timeslots = rows.map((row) => ({
      start: row.starts_at.toISOString(),
      end: row.ends_at.toISOString(),
      resource_id: `emr_id:${row.resource_id}`,
      healthcare_service_id: row.healthcare_service_id,
    }));
    return { timeslots, next_cursor: null };
  },
);

const target = forwardTo === undefined ? undefined : new Pool(forwardTo, { connections: 32 });
app.all('/forward/*', async (request, reply) => {
  if (!target) throw new Error('Nothing to forward to');
  const { statusCode, body: received } = await target.request({
    path: (request.raw.url ?? '').slice('/forward'.length),
    method: request.method as 'GET',
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    headers: { 'content-type': 'application/json' },
  });
  return reply
    .code(statusCode)
    .type('application/json')
    .send(await received.json());
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
report(url, async () => {
  await app.close();
  await Promise.all([pool.end(), target?.close()]);
});
