import { both, type Texts } from './texts.ts';

export const nb: Texts = {
  states: {
    booking: {
      waiting: {
        one: { heading: 'Bekreft timen', text: 'Skriv inn koden for å bekrefte timen.' },
        many: { heading: 'Bekreft timene', text: 'Skriv inn koden for å bekrefte alle timene.' },
      },
      checking: {
        one: {
          heading: 'Vi venter på svar',
          text: 'Koden er riktig, men vi vet ikke ennå om timen er bekreftet. Du trenger ikke gjøre noe. Last siden på nytt om et minutt.',
        },
        many: {
          heading: 'Vi venter på svar',
          text: 'Koden er riktig, men vi vet ikke ennå om timene er bekreftet. Du trenger ikke gjøre noe. Last siden på nytt om et minutt.',
        },
      },
      confirmed: {
        one: { heading: 'Timen er bekreftet', text: 'Du trenger ikke gjøre noe mer.' },
        many: { heading: 'Timene er bekreftet', text: 'Du trenger ikke gjøre noe mer.' },
      },
      expired: {
        one: { heading: 'Koden har utløpt', text: 'Timen ble ikke bekreftet i tide. Bestill en ny time.' },
        many: { heading: 'Koden har utløpt', text: 'Timene ble ikke bekreftet i tide. Bestill nye timer.' },
      },
      locked: {
        one: { heading: 'For mange feil koder', text: 'Timen ble ikke bekreftet. Bestill en ny time.' },
        many: { heading: 'For mange feil koder', text: 'Timene ble ikke bekreftet. Bestill nye timer.' },
      },
      cancelled: {
        one: { heading: 'Timen er avbestilt', text: 'Den er ikke lenger reservert for deg.' },
        many: { heading: 'Timene er avbestilt', text: 'De er ikke lenger reservert for deg.' },
      },
      unavailable: both({
        heading: 'Prøv igjen om litt',
        text: 'Vi får ikke kontakt med timeboken akkurat nå. Ingenting er endret, og koden gjelder fortsatt.',
      }),
    },
    cancellation: {
      waiting: {
        one: {
          heading: 'Avbestill timen',
          text: 'Skriv inn koden for å avbestille timen. Gjør du ingenting, beholder du den.',
        },
        many: {
          heading: 'Avbestill timene',
          text: 'Skriv inn koden for å avbestille alle timene. Gjør du ingenting, beholder du dem.',
        },
      },
      checking: both({
        heading: 'Vi venter på svar',
        text: 'Koden er riktig, men vi vet ikke ennå om avbestillingen er utført. Du trenger ikke gjøre noe. Last siden på nytt om et minutt.',
      }),
      confirmed: {
        one: { heading: 'Timen er avbestilt', text: 'Du trenger ikke gjøre noe mer.' },
        many: { heading: 'Timene er avbestilt', text: 'Du trenger ikke gjøre noe mer.' },
      },
      expired: {
        one: { heading: 'Koden har utløpt', text: 'Timen ble ikke avbestilt. Du har den fortsatt.' },
        many: { heading: 'Koden har utløpt', text: 'Timene ble ikke avbestilt. Du har dem fortsatt.' },
      },
      locked: {
        one: { heading: 'For mange feil koder', text: 'Timen ble ikke avbestilt. Du har den fortsatt.' },
        many: { heading: 'For mange feil koder', text: 'Timene ble ikke avbestilt. Du har dem fortsatt.' },
      },
      cancelled: both({ heading: 'Avbestillingen er avsluttet', text: 'Koden kan ikke brukes lenger.' }),
      unavailable: both({
        heading: 'Prøv igjen om litt',
        text: 'Vi får ikke kontakt med timeboken akkurat nå. Koden gjelder fortsatt.',
      }),
    },
  },
  notices: {
    sent: 'En ny kode er på vei. Den forrige gjelder ikke lenger.',
    too_soon: 'Vent et halvt minutt før du ber om en ny kode. Bruk den siste koden du fikk.',
    resend_limit: 'Vi kan ikke sende flere koder. Bruk den siste koden du fikk.',
    patient_limit:
      'Det er sendt for mange koder den siste timen. Bruk den siste koden du fikk, eller prøv igjen senere.',
    no_contact: 'Vi har ikke lenger et telefonnummer eller en e-postadresse å sende koden til.',
    unknown: 'Vi fikk ikke svar fra timeboken. Prøv igjen.',
    unavailable: 'Vi fikk ikke kontakt med timeboken, så ingenting er endret. Prøv igjen.',
    rejected: 'Timeboken godtok ikke endringen. Ta kontakt med klinikken.',
  },
  taken: { heading: 'Tiden er opptatt', text: 'En annen fikk tiden før timen ble bekreftet. Bestill en ny time.' },
  unknownLink: {
    heading: 'Lenken er ikke gyldig',
    text: 'Åpne lenken på nytt fra den siste meldingen din, eller kopier hele lenken. En lenke slutter å virke en dag etter at koden er brukt eller utløpt: bestill på nytt der du bestilte, eller ring klinikken.',
  },
  tooManyRequests: { heading: 'For mange forsøk', text: 'Vent et minutt, og prøv igjen.' },
  failed: { heading: 'Noe gikk galt', text: 'Det er en feil hos oss. Prøv igjen om litt.' },
  sendingBy: { sms: 'Vi sender deg koden på SMS.', email: 'Vi sender deg koden på e-post.' },
  sentBy: { sms: 'Vi har sendt deg koden på SMS.', email: 'Vi har sendt deg koden på e-post.' },
  late: 'Meldingen med koden er forsinket. Vi prøver fortsatt å sende den, og koden gjelder så lenge.',
  notDelivered: 'Vi fikk ikke sendt meldingen med koden.',
  requestAnother: 'Be om en ny kode.',
  reach: { call: 'Du kan også ringe oss:', contact: 'Du kan også ta kontakt med klinikken.' },
  change: {
    call: 'Hvis du må endre eller avbestille, ring oss:',
    contact: 'Hvis du må endre eller avbestille, ta kontakt med klinikken.',
  },
  code: 'Kode',
  validUntil: (time, day) => `Koden gjelder til ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}.`,
  errorTitle: 'Koden ble ikke godtatt',
  errorPrefix: 'Feil',
  malformed: (length) => `Skriv de ${length} sifrene i koden`,
  incorrect: (left) => `Koden er feil. Du har ${left} forsøk igjen`,
  submit: { booking: 'Bekreft', cancellation: 'Avbestill' },
  noCode: 'Har du ikke fått koden?',
  resend: 'Send ny kode',
  noMoreCodes: 'Vi kan ikke sende flere koder.',
  reload: 'Last siden på nytt',
  cancel: { one: 'Avbestill timen', many: 'Avbestill timene' },
  confirmCancel: {
    one: { heading: 'Vil du avbestille timen?', text: 'Andre kan da bestille den.' },
    many: { heading: 'Vil du avbestille timene?', text: 'Andre kan da bestille dem.' },
  },
  cancelNow: 'Ja, avbestill',
  held: {
    one: (time, day) =>
      `Tiden er reservert for deg til ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}. Frigi den for å bestille den på nytt nå.`,
    many: (time, day) =>
      `Tidene er reservert for deg til ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}. Frigi dem for å bestille dem på nytt nå.`,
  },
  release: { one: 'Frigi tiden', many: 'Frigi tidene' },
  confirmRelease: {
    one: { heading: 'Vil du frigi tiden?', text: 'Du kan da bestille den på nytt, og det kan andre også.' },
    many: { heading: 'Vil du frigi tidene?', text: 'Du kan da bestille dem på nytt, og det kan andre også.' },
  },
  releaseNow: 'Ja, frigi',
  calendar: { one: 'Legg i kalenderen', many: 'Legg dem i kalenderen' },
  calendarCancelled: {
    one: 'Marker timen som avbestilt i kalenderen',
    many: 'Marker timene som avbestilt i kalenderen',
  },
  calendarTitle: (clinic) => `Time hos ${clinic}`,
  keep: 'Nei, gå tilbake',
  goOn: 'Gå videre',
  appointment: { one: 'Timen', many: 'Timene' },
  time: 'Tid',
  place: 'Sted',
  resource: { practitioner: 'Hos', room: 'Rom', device: 'Utstyr' },
  until: 'til',
  language: 'Språk',
  help: 'Trenger du hjelp? Ring',
};
