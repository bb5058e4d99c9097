import Type, { type Static } from 'typebox';
import { Default } from 'typebox/value';
import { choice, wholeNumber } from './schema-parts.ts';

const confirmation = ['none', 'code'] as const;

/** How bookings and cancellations are confirmed. For an EHR, and again for a care unit that differs from it. */
export const policiesSchema = Type.Object(
  {
    booking_confirmation: Type.Optional(
      choice(confirmation, { description: 'Whether a booking waits for a code.', default: 'none' }),
    ),
    cancellation_confirmation: Type.Optional(
      choice(confirmation, { description: 'Whether a cancellation waits for a code.', default: 'none' }),
    ),
    cancellation_code_by_email: Type.Optional(
      Type.Boolean({
        description: 'Whether a cancellation code may go by e-mail to a patient without a phone number.',
        default: false,
      }),
    ),
    code: Type.Optional(
      Type.Object(
        {
          length: Type.Optional(wholeNumber('Digits of a code.', { minimum: 4, maximum: 10, default: 6 })),
          lifetime_seconds: Type.Optional(
            wholeNumber('How long a code is valid, in seconds.', { minimum: 1, maximum: 86_400, default: 600 }),
          ),
          attempts: Type.Optional(
            wholeNumber('Wrong codes after which a confirmation is locked.', { minimum: 1, maximum: 20, default: 5 }),
          ),
        },
        { description: 'Confirmation codes.', additionalProperties: false, default: {} },
      ),
    ),
    limits_per_patient: Type.Optional(
      Type.Object(
        {
          pending: Type.Optional(
            wholeNumber('Confirmations that one client may have waiting for one patient.', {
              minimum: 1,
              maximum: 1_000_000,
              default: 5,
            }),
          ),
          codes_per_hour: Type.Optional(
            wholeNumber('Codes that one client may have sent to one patient in an hour.', {
              minimum: 1,
              maximum: 1_000_000,
              default: 10,
            }),
          ),
        },
        {
          description: 'Limits for one patient, for each client. All clients together may three times as much.',
          additionalProperties: false,
          default: {},
        },
      ),
    ),
  },
  {
    description: 'How bookings and cancellations are confirmed. A care unit may set any of them anew.',
    additionalProperties: false,
  },
);
export type PoliciesInFile = Static<typeof policiesSchema>;

type Complete<T> = T extends object ? { readonly [Key in keyof T]-?: Complete<T[Key]> } : T;

/** Every policy settled. */
export type Policies = Complete<PoliciesInFile>;

/** `limits_per_patient` as the code below the configuration knows them. */
export interface PatientLimits {
  readonly pending: number;
  readonly codesPerHour: number;
}

/** The defaults, overridden by each layer in turn: the EHR's policies, then the care unit's. */
export function resolvePolicies(...layers: readonly (PoliciesInFile | undefined)[]): Policies {
  let merged: PoliciesInFile = {};
  for (const layer of layers) {
    merged = {
      ...merged,
      ...layer,
      code: { ...merged.code, ...layer?.code },
      limits_per_patient: { ...merged.limits_per_patient, ...layer?.limits_per_patient },
    };
  }
  return Default(policiesSchema, merged) as Policies;
}
