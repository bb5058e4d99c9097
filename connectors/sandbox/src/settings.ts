import Type, { type Static } from 'typebox';

/** Settings of a sandbox connection in the configuration file. */
export const sandboxSettings = Type.Object(
  {
    country: Type.Union([Type.Literal('NO'), Type.Literal('SE'), Type.Literal('GB')], {
      description: 'Country of the synthetic people and national numbers (ISO 3166-1 alpha-2).',
    }),
  },
  { additionalProperties: false },
);
export type SandboxSettings = Static<typeof sandboxSettings>;
export type Country = SandboxSettings['country'];
