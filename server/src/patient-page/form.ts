import { type Action, actions, type Result, results } from './actions.ts';

/** The body of a form of the page. */
export interface SentForm {
  /** `undefined` if the form is none of the page's. */
  readonly action: Action | undefined;
  readonly code: string;
}

/** Reads `application/x-www-form-urlencoded`. Everything that the page did not send is ignored. */
export function readForm(body: string): SentForm {
  const fields = new URLSearchParams(body);
  return { action: actions.find((it) => it === fields.get('action')), code: fields.get('code') ?? '' };
}

/** Reads the parameter `result` of the page's URL. */
export function readResult(text: unknown): Result | undefined {
  return results.find((it) => it === text);
}
