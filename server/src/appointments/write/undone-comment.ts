import type { Language } from '../../messages/outbox.ts';

/** What the EHR's own staff reads on a booking that the gateway has taken back. */
const comments: Record<Language, string> = {
  nb: 'Avlyst automatisk: bestillingen ble ikke fullført.',
  sv: 'Avbokad automatiskt: bokningen slutfördes inte.',
  en: 'Cancelled automatically: the booking was not completed.',
};

export function undoneComment(language: Language): string {
  return comments[language];
}
