import type { FhirSettings } from '../../settings.ts';
import type { OperationForm } from '../by-operations/form.ts';
import { argonaut } from './argonaut.ts';
import { epic } from './epic.ts';
import { ihe } from './ihe.ts';
import { isik } from './isik.ts';
import { medplum } from './medplum/medplum.ts';

type Name = NonNullable<NonNullable<FhirSettings['booking']>['operations']>;

/** The values of the setting `booking.operations`. */
const byName: Readonly<Record<Name, OperationForm>> = { ihe, argonaut, epic, isik, medplum };

export function operationsOf({ booking: { operations = 'ihe' } = {} }: FhirSettings): OperationForm {
  return byName[operations];
}
