import type { ServerFacts } from '../../capability-statement.ts';
import type { FhirConnection } from '../../connection.ts';
import type { FhirSettings } from '../../settings.ts';
import type { Booking } from '../booking.ts';
import { argonaut } from './argonaut/argonaut.ts';
import { operationsBooking } from './booking.ts';
import { epic } from './epic/epic.ts';
import type { OperationForm } from './form.ts';
import { ihe } from './ihe/ihe.ts';
import { isik } from './isik/isik.ts';
import { medplumBooking } from './medplum/booking.ts';
import { medplum } from './medplum/medplum.ts';

type Name = NonNullable<NonNullable<FhirSettings['booking']>['operations']>;

interface NamedForm {
  readonly form: OperationForm;
  /** Whether free times are Slot resources. */
  readonly timesAreSlots: boolean;
  open(connection: FhirConnection, facts: ServerFacts): Booking;
}

/** The values of the setting `booking.operations`. */
const byName: Readonly<Record<Name, NamedForm>> = {
  ihe: onSlots(ihe),
  argonaut: onSlots(argonaut),
  epic: onSlots(epic),
  isik: onSlots(isik),
  medplum: { form: medplum, timesAreSlots: false, open: medplumBooking },
};

export function operationsOf({ booking: { operations = 'ihe' } = {} }: FhirSettings): NamedForm {
  return byName[operations];
}

function onSlots(form: OperationForm): NamedForm {
  return { form, timesAreSlots: true, open: (connection, facts) => operationsBooking(connection, facts, form) };
}
