import { type IdentifierType, identifierChecks } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { settingChoice, settingText } from './schema-parts.ts';

const pattern = (description: string) => settingText(description, { maxLength: 400 });

const identifierType = Type.Object(
  {
    id: Type.String({
      description: 'What stands before the colon of an identifier, such as `ee_ik`: a country, and a name. Unique.',
      pattern: '^[a-z]{2}_[a-z0-9_]{2,30}$',
      errorMessage:
        'must be two lower-case letters, an underscore, and 2 to 30 lower-case letters, digits and underscores',
    }),
    name: settingText('Its name, for operators and in errors, such as `Estonian personal code`.'),
    of: Type.Optional(
      settingChoice(['patient', 'resource', 'both'], {
        description: 'Whose number it is.',
        default: 'patient',
      }),
    ),
    national: Type.Optional(
      Type.Boolean({
        description:
          'Whether it is the number of a person: it then is in no URL of FHIR, and is removed from texts for people, models and logs. Default: true, and false for `of: resource`.',
      }),
    ),
    pattern: pattern(
      'The normal form: letters, digits, hyphens, `\\d` and classes such as `[A-HJ-NP-Z]`, each perhaps with `{3}` or `{1,18}`, in alternatives separated by `|`. An alternative has at most one part of variable length, and 40 characters.',
    ),
    groups: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 40 }), {
        description:
          'Lengths of the groups in which people write it, with spaces or hyphens between them, such as `[6, 4]`. The normal form has none.',
        minItems: 2,
        maxItems: 10,
      }),
    ),
    case_matters: Type.Optional(
      Type.Boolean({
        description: 'Whether lower and upper case are different numbers. Otherwise the normal form is in upper case.',
        default: false,
      }),
    ),
    check: Type.Optional(
      settingChoice(identifierChecks, { description: 'The rule for its check digits, by name.', default: 'none' }),
    ),
    systems: Type.Optional(
      Type.Array(settingText('A system, such as `urn:oid:1.2.246.21`.'), {
        description: 'Its identifier systems in FHIR. The first one is written, all are read.',
        uniqueItems: true,
        maxItems: 20,
      }),
    ),
    temporary: Type.Optional(
      Type.Object(
        {
          pattern: pattern('Which numbers they are.'),
          system: settingText('Their system: one of `systems`.'),
        },
        {
          description: 'Numbers of people who are not registered, if they have a system of their own.',
          additionalProperties: false,
        },
      ),
    ),
    synthetic: Type.Optional(
      pattern('The numbers that are kept free for tests. Refused unless the EHR has `synthetic_identifiers`.'),
    ),
  },
  { additionalProperties: false },
);
type IdentifierTypeInFile = Static<typeof identifierType>;

export const identifierTypesSchema = Type.Array(identifierType, {
  description: 'Types of identifiers in addition to those that come with the gateway.',
  maxItems: 100,
});

/** Applies defaults. */
export function resolveIdentifierType({
  of = 'patient',
  national = of !== 'resource',
  case_matters: caseMatters,
  check = 'none',
  systems = [],
  ...rest
}: IdentifierTypeInFile): IdentifierType {
  return { ...rest, of: of === 'both' ? ['patient', 'resource'] : [of], national, caseMatters, check, systems };
}
