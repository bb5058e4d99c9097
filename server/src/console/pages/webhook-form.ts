import { longestEhrUrl } from '../../ehr/guard/address-rules.ts';
import { eventTypes } from '../../events/event-types.ts';
import { type Html, html } from '../../html/html.ts';
import { checkBoxes, textField } from '../fields.ts';
import type { ConsoleRequest } from '../page.ts';

/** What the form of an endpoint contains. */
export interface EndpointFields {
  readonly url: string;
  /** None: all. */
  readonly types: readonly string[];
}

export function readWebhookFields({ form }: ConsoleRequest): EndpointFields {
  return {
    url: (form.get('url') ?? '').trim(),
    types: form.getAll('types').filter((type) => eventTypes.some((it) => it === type)),
  };
}

/** `null`: all. */
export function eventTypesOf({ types }: EndpointFields): readonly string[] | null {
  return types.length === 0 ? null : types;
}

interface Options {
  /** What is wrong with the URL. */
  readonly problem?: string | undefined;
  /** An empty URL then stands for the present one. */
  readonly isChange?: boolean;
}

export function endpointFields({ url, types }: EndpointFields, { problem, isChange = false }: Options = {}): Html {
  const rule = 'It begins with https:// and has a public address.';
  return html`${textField({
    name: 'url',
    label: isChange ? 'New URL' : 'URL',
    type: 'url',
    value: url,
    isOptional: isChange,
    maxLength: longestEhrUrl,
    hint: isChange ? `Leave it empty to keep the present one. ${rule}` : rule,
    problem,
  })}
${checkBoxes(
  { name: 'types', label: 'Events', hint: 'Choose none for all events, also those that later versions add.' },
  eventTypes.map((value) => ({ value, text: value })),
  types,
)}`;
}
