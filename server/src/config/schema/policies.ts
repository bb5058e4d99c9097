import Type, { type Static } from 'typebox';
import { Default } from 'typebox/value';
import { settingChoice, wholeNumber } from './schema-parts.ts';

const confirmation = ['none', 'code'] as const;

/** How bookings and cancellations are confirmed. Set for an EHR; a care unit can override it. */
export const policiesSchema = Type.Object(
  {
    booking_confirmation: Type.Optional(
      settingChoice(confirmation, { description: '`code`: a booking must be confirmed with a code.', default: 'none' }),
    ),
    cancellation_confirmation: Type.Optional(
      settingChoice(confirmation, {
        description: '`code`: a cancellation must be confirmed with a code.',
        default: 'none',
      }),
    ),
    cancellation_code_by_email: Type.Optional(
      Type.Boolean({
        description: 'Sends cancellation codes by e-mail to patients without a phone number.',
        default: false,
      }),
    ),
    code: Type.Optional(
      Type.Object(
        {
          length: Type.Optional(wholeNumber('Number of digits of a code.', { minimum: 4, maximum: 10, default: 6 })),
          lifetime_seconds: Type.Optional(
            wholeNumber('Seconds after which a code expires.', { minimum: 1, maximum: 86_400, default: 600 }),
          ),
          attempts: Type.Optional(
            wholeNumber(
              'Number of incorrect codes after which a confirmation is locked: at most one for every 10,000 codes of the length.',
              {
                minimum: 1,
                maximum: 20,
                default: 5,
              },
            ),
          ),
        },
        { description: 'Confirmation codes.', additionalProperties: false, default: {} },
      ),
    ),
    limits_per_patient: Type.Optional(
      Type.Object(
        {
          pending: Type.Optional(
            wholeNumber('Maximum number of pending confirmations per patient and client.', {
              minimum: 1,
              maximum: 1_000_000,
              default: 5,
            }),
          ),
          codes_per_hour: Type.Optional(
            wholeNumber('Maximum number of codes per patient and client in one hour.', {
              minimum: 1,
              maximum: 1_000_000,
              default: 10,
            }),
          ),
        },
        {
          description: 'Limits per patient and client. The limits for all clients together are three times as high.',
          additionalProperties: false,
          default: {},
        },
      ),
    ),
  },
  {
    description: 'How bookings and cancellations are confirmed. A care unit can override each policy.',
    additionalProperties: false,
  },
);
export type PoliciesInFile = Static<typeof policiesSchema>;

type Complete<T> = T extends object ? { readonly [Key in keyof T]-?: Complete<T[Key]> } : T;

/** The policies with defaults applied. */
export type Policies = Complete<PoliciesInFile>;

/** `limits_per_patient`, with the names used in code. */
export interface PatientLimits {
  readonly pending: number;
  readonly codesPerHour: number;
}

/** Merges the policies of the EHR and then of the care unit over the defaults. */
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
