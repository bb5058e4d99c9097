import type { Mend, OddRecords } from '@crossward/connector-kit/conformance';
import type { Store, Stored } from '../fake/store.ts';

const other = 'https://other.example/fhir';

/** Records of a fake server as other programs may leave them. */
export function oddRecordsIn(store: Store): Omit<OddRecords, 'leftOut'> {
  async function change(reference: string, alter: (resource: Stored) => object): Promise<Mend> {
    const before = store.get(reference.replace(/_.*$/, ''));
    store.save({ ...before, ...alter(before) });
    return async () => void store.save(before);
  }
  /** The participants of this type are at another server. */
  const elsewhere =
    (type: string) =>
    ({ participant }: Stored) => ({
      participant: JSON.parse(JSON.stringify(participant).replaceAll(`"${type}/`, `"${other}/${type}/`)),
    });
  return {
    breakAppointment: ({ id }) => change(`Appointment/${id}`, () => ({ minutesDuration: 'half an hour' })),
    breakPatient: (id) => change(`Patient/${id}`, () => ({ active: 'yes' })),
    async breakTimeSlot({ start, resourceId }) {
      const slots = store.all('Slot').filter((it) => {
        const schedule = store.get((it.schedule as { readonly reference: string }).reference);
        const isOfResource = JSON.stringify(schedule.actor).includes(`/${resourceId}"`);
        return isOfResource && Date.parse(String(it.start)) === start.getTime();
      });
      const mends = await Promise.all(slots.map(({ id }) => change(`Slot/${id}`, () => ({ overbooked: 'perhaps' }))));
      return async () => {
        for (const mend of mends) await mend();
      };
    },
    nameForeignPatient: ({ id }) => change(`Appointment/${id}`, elsewhere('Patient')),
    // A slot would still name the local one.
    nameForeignResource: ({ id }) =>
      change(`Appointment/${id}`, (it) => ({ ...elsewhere('Practitioner')(it), slot: undefined })),
    replaceByForeignPatient: (id, by) =>
      change(`Patient/${id}`, () => ({
        link: [{ type: 'replaced-by', other: { reference: `${other}/Patient/${by}` } }],
      })),
  };
}
