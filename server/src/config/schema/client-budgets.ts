import Type, { type Static } from 'typebox';
import { wholeNumber } from './schema-parts.ts';

function propertiesWith(defaults: { readonly held?: number; readonly messages?: number }) {
  const budget = (description: string, value: number | undefined) =>
    Type.Optional(
      wholeNumber(description, { minimum: 0, maximum: 100_000_000, ...(value !== undefined && { default: value }) }),
    );
  return {
    held_times: budget('Times that a client may hold at once, until their codes are entered.', defaults.held),
    sms_per_day: budget('SMS with codes that a client may cause in a day (UTC).', defaults.messages),
    emails_per_day: budget('E-mails with codes that a client may cause in a day (UTC).', defaults.messages),
  };
}

/** The budgets of each client. */
export const budgetProperties = propertiesWith({ held: 2_000, messages: 20_000 });

/** Those of one client. What is absent is that of `limits`. */
export const clientBudgetsSchema = Type.Object(propertiesWith({}), {
  description: 'Budgets of this client instead of those in `limits`.',
  additionalProperties: false,
});

export type ClientBudgets = Required<Static<typeof clientBudgetsSchema>>;
