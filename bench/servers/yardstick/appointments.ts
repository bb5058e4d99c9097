import type { FastifyInstance } from 'fastify';
import { appointmentSchema, confirmationSchema } from '../../../server/src/appointments/contract.ts';
import type { Run } from './statements.ts';

interface Row {
  readonly id: string;
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly comment: string | null;
}

interface Creation {
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly start_time: string;
  readonly end_time: string;
}

const columns = 'id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, comment';
const select = `SELECT ${columns} FROM sandbox.appointments WHERE emr = 'sandbox-no' AND id = $1`;
const insert = `
  INSERT INTO yardstick.appointments
    (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
  VALUES ('sandbox-no', gen_random_uuid(), 'oslo-sentrum', $1, $2, $3, $4, $5, 'booked') RETURNING ${columns}`;
const schema = { response: { 200: { $ref: 'Appointment#' }, 201: { $ref: 'Appointment#' } } };

/** `/appointments/:id`: one SELECT. `/insert`: one INSERT. `/insert-and-update`: one INSERT and one UPDATE of a plain row. */
export function addAppointmentRoutes(app: FastifyInstance, run: Run): void {
  app.addSchema(confirmationSchema);
  app.addSchema(appointmentSchema);

  app.get<{ Params: { id: string } }>('/appointments/:id', { schema }, async ({ params }) => {
    const [row] = await run('select', select, [params.id]);
    return represent(row as Row);
  });

  app.post<{ Body: Creation }>('/insert', { schema }, async ({ body }, reply) => {
    const { patient_id, resource_id, healthcare_service_id, start_time, end_time } = body;
    const times = [`${start_time}Z`, `${end_time}Z`];
    const [row] = await run('insert', insert, [patient_id, resource_id, healthcare_service_id, ...times]);
    return reply.code(201).send(represent(row as Row));
  });

  app.post<{ Body: Creation }>('/insert-and-update', { schema }, async ({ body, headers }, reply) => {
    const key = headers['idempotency-key'];
    await run('begin', 'INSERT INTO yardstick.writes (key, request) VALUES ($1, $2)', [key, JSON.stringify(body)]);
    const appointment = represent({
      ...body,
      id: crypto.randomUUID(),
      starts_at: new Date(body.start_time),
      ends_at: new Date(body.end_time),
      comment: null,
    });
    const text = 'UPDATE yardstick.writes SET response = $2 WHERE key = $1';
    await run('end', text, [key, JSON.stringify(appointment)]);
    return reply.code(201).send(appointment);
  });
}

function represent(row: Row) {
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
    attendance: null,
    modality: null,
    notice: null,
  };
}
