import { hidesText } from '../identifiers/hidden-text.ts';
import type { Mistake, Path } from './mistake.ts';

/** What is wrong with the name of a client. Operators tell clients apart by it, so that all of it must show as it is written. */
export function nameMistakes(name: string | undefined, path: Path): Mistake[] {
  if (name === undefined || !hidesText(name)) return [];
  const text = 'must not contain control characters, or characters that are invisible or change the direction of text';
  return [{ path, at: 'value', text }];
}
