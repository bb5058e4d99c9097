import { ConnectorError } from '@crossward/connector-kit';
import { textOf, type XmlElement } from '@crossward/connector-kit/soap';

/** What a producer answers to a change. The texts are for the person. */
export interface Outcome {
  /** It was done. */
  readonly isDone: boolean;
  /** Why not, or what the person has to know. */
  readonly text: string | undefined;
  readonly bookingId: string | undefined;
}

/** @throws ConnectorError `outcome_unknown` if the answer does not say what became of the change */
export function outcomeOf(answer: XmlElement): Outcome {
  const code = textOf(answer, answer.namespace, 'resultCode');
  if (code !== 'OK' && code !== 'INFO' && code !== 'ERROR') {
    throw new ConnectorError('outcome_unknown', 'The producer did not say whether the change was made');
  }
  const text = textOf(answer, answer.namespace, 'resultText');
  const isDone = code !== 'ERROR';
  return {
    isDone,
    // Only INFO and ERROR have a text that must be shown.
    text: code === 'OK' ? undefined : text,
    bookingId: isDone ? textOf(answer, answer.namespace, 'bookingId') : undefined,
  };
}
