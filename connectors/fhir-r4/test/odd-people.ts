import type { Store } from '../fake/store.ts';

const personnummer = 'http://electronichealth.se/identifier/personnummer';

/** A number that two people have. A test number of Skatteverket. */
export const ambiguousNumber = '189001059840';
/** Has died. */
export const inactivePatient = 'died';

/** People whom nobody can book. */
export function addOddPeople(store: Store): void {
  for (const id of ['twin-1', 'twin-2']) {
    store.save({
      resourceType: 'Patient',
      id,
      identifier: [{ system: personnummer, value: ambiguousNumber }],
      name: [{ family: 'Tvilling' }],
    });
  }
  store.save({ resourceType: 'Patient', id: inactivePatient, deceasedBoolean: true, name: [{ family: 'Avliden' }] });
}
