import { type Appointment, type ConnectorContext, ConnectorError, type DirectChanges } from '@crossward/connector-kit';
import Type from 'typebox';
import { type AppointmentRow, rowsAt, searchRows } from './appointments/rows.ts';
import { attendanceStates } from './appointments/states.ts';
import { openEhr } from './ehr.ts';
import { equal } from './rpc/client.ts';
import { idSchema } from './rpc/rows.ts';
import { toRpc } from './rpc/values.ts';
import type { GnuHealthSettings } from './settings.ts';

const model = 'model.gnuhealth.appointment';
const anySchema = Type.Object({ id: idSchema });

/** As staff do it in Tryton's client: without a look at what others have changed in between. */
export async function gnuHealthDirectChanges(context: ConnectorContext<GnuHealthSettings>): Promise<DirectChanges> {
  const ehr = openEhr(context);
  const { client } = ehr;
  await client.userId();

  async function send(method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await client.write(method, params, { repeatable: false });
    if ('result' in answer) return answer.result;
    throw new ConnectorError('rejected', `The EHR rejected a direct change with ${answer.exception}`);
  }

  async function rowOf({ id }: Pick<Appointment, 'id'>) {
    const [row] = await searchRows(client, equal({ id: Number(id) }));
    if (!row) throw new ConnectorError('rejected', 'The EHR does not have the appointment');
    return row;
  }

  /** Books for this patient at the time of the row, which stays as it is. The returned function cancels it. */
  async function bookLike(row: AppointmentRow, patient: number): Promise<() => Promise<void>> {
    const made = await send(`${model}.create`, [[{ state: 'confirmed', patient, comments: null, ...placeOf(row) }]]);
    return async () => void (await send(`${model}.write`, [made, { state: 'center_cancelled' }]));
  }

  return {
    async cancel(appointment) {
      await send(`${model}.write`, [[Number(appointment.id)], { state: 'center_cancelled' }]);
      // Read afterwards: nobody moves a cancelled appointment, and its time is the one to give back.
      const row = await rowOf(appointment);
      await send(`${model}.create`, [[{ state: 'free', ...placeOf(row) }]]);
    },
    attend: async ({ id }, attendance) =>
      void (await send(`${model}.write`, [[Number(id)], { state: attendanceStates[attendance] }])),
    move: async ({ id }, { start, end }) => {
      const time = { appointment_date: toRpc(start), appointment_date_end: toRpc(end) };
      await send(`${model}.write`, [[Number(id)], time]);
    },
    comment: async ({ id }, text) => void (await send(`${model}.write`, [[Number(id)], { comments: text }])),
    // A new appointment beside the free row, as one that was planned without looking at the free times.
    async take(slot) {
      const { free } = await rowsAt(ehr, [Number(slot.resourceId)], slot);
      const [row] = free;
      const [patient] = await client.searchRead({ model: 'gnuhealth.patient', row: anySchema, domain: [], limit: 1 });
      if (!row || !patient) throw new ConnectorError('rejected', 'The EHR has no free appointment at this time');
      return bookLike(row, patient.id);
    },
    overbook: async (appointment, patientId) => bookLike(await rowOf(appointment), Number(patientId)),
  };
}

function placeOf(row: AppointmentRow): object {
  const { healthprof, speciality, institution, appointment_date, appointment_date_end } = row;
  return { healthprof, speciality, institution, appointment_date, appointment_date_end };
}
