import type { Language } from '../../messages/outbox.ts';

/** Comment for the clinic's staff on a booking that the gateway has compensated. */
const comments: Record<Language, string> = {
  nb: 'Avlyst automatisk: bestillingen ble ikke fullført.',
  sv: 'Avbokad automatiskt: bokningen slutfördes inte.',
  en: 'Cancelled automatically: the booking was not completed.',
};

export function compensationComment(language: Language): string {
  return comments[language];
}
