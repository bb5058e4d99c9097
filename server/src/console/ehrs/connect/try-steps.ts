import { ConnectorError } from '@crossward/connector-kit';
import { causeOf } from '../../../ehr/guard/cause-of.ts';
import { type Html, html } from '../../../html/html.ts';
import { Problem } from '../../../problems/problem.ts';
import { ConfigurationError } from '../../../startup/configuration-error.ts';
import { badge, table } from '../../frame/parts.ts';

/** What a step did: its result, or why it failed, and the requests that it made. */
export interface TriedStep {
  readonly name: string;
  readonly isWell: boolean;
  readonly result: string;
  readonly requests: readonly string[];
}

/** @throws the error, if it is neither of the EHR nor of its configuration */
export function whyFailed(error: unknown): string {
  if (error instanceof ConnectorError) return `${error.kind}: ${causeOf(error)}`;
  if (error instanceof Problem) return error.detail ? `${error.reason}: ${error.detail}` : error.reason;
  if (error instanceof ConfigurationError) return error.message;
  throw error;
}

export function stepTable(steps: readonly TriedStep[]): Html {
  return table(
    'What was tried, and what the EHR answered',
    ['Step', 'Result', 'Answer', 'Requests'],
    steps.map(({ name, isWell, result, requests }) => [
      name,
      badge(isWell ? 'good' : 'bad', isWell ? 'ok' : 'problem'),
      result,
      requests.length === 0
        ? 'none'
        : inRow(requests).map(
            ([made, count], index) =>
              html`${index > 0 && html`<br>`}<code>${made}</code>${count > 1 && html` ${count} times`}`,
          ),
    ]),
  );
}

/** Requests with how often each was made in a row: of some EHRs, all have the same address. */
function inRow(requests: readonly string[]): readonly (readonly [request: string, count: number])[] {
  const starts = requests.flatMap((made, index) => (made === requests[index - 1] ? [] : [index]));
  return starts.map((start, index) => [requests[start] ?? '', (starts[index + 1] ?? requests.length) - start]);
}
