import { both, type Texts } from './texts.ts';

export const sv: Texts = {
  states: {
    booking: {
      waiting: {
        one: { heading: 'Bekräfta din tid', text: 'Skriv koden för att bekräfta tiden.' },
        many: { heading: 'Bekräfta dina tider', text: 'Skriv koden för att bekräfta alla tiderna.' },
      },
      checking: {
        one: {
          heading: 'Vi väntar på svar',
          text: 'Koden är rätt, men vi vet inte ännu om tiden är bekräftad. Du behöver inte göra något. Ladda om sidan om en minut.',
        },
        many: {
          heading: 'Vi väntar på svar',
          text: 'Koden är rätt, men vi vet inte ännu om tiderna är bekräftade. Du behöver inte göra något. Ladda om sidan om en minut.',
        },
      },
      confirmed: {
        one: { heading: 'Din tid är bekräftad', text: 'Du behöver inte göra något mer.' },
        many: { heading: 'Dina tider är bekräftade', text: 'Du behöver inte göra något mer.' },
      },
      expired: {
        one: { heading: 'Koden har gått ut', text: 'Tiden bekräftades inte i tid. Boka en ny tid.' },
        many: { heading: 'Koden har gått ut', text: 'Tiderna bekräftades inte i tid. Boka nya tider.' },
      },
      locked: {
        one: { heading: 'För många felaktiga koder', text: 'Tiden bekräftades inte. Boka en ny tid.' },
        many: { heading: 'För många felaktiga koder', text: 'Tiderna bekräftades inte. Boka nya tider.' },
      },
      cancelled: {
        one: { heading: 'Din tid är avbokad', text: 'Den är inte längre reserverad för dig.' },
        many: { heading: 'Dina tider är avbokade', text: 'De är inte längre reserverade för dig.' },
      },
      unavailable: both({
        heading: 'Försök igen om en stund',
        text: 'Vi får ingen kontakt med tidboken just nu. Ingenting har ändrats och koden gäller fortfarande.',
      }),
    },
    cancellation: {
      waiting: {
        one: {
          heading: 'Avboka din tid',
          text: 'Skriv koden för att avboka tiden. Gör du ingenting behåller du den.',
        },
        many: {
          heading: 'Avboka dina tider',
          text: 'Skriv koden för att avboka alla tiderna. Gör du ingenting behåller du dem.',
        },
      },
      checking: both({
        heading: 'Vi väntar på svar',
        text: 'Koden är rätt, men vi vet inte ännu om avbokningen är gjord. Du behöver inte göra något. Ladda om sidan om en minut.',
      }),
      confirmed: {
        one: { heading: 'Din tid är avbokad', text: 'Du behöver inte göra något mer.' },
        many: { heading: 'Dina tider är avbokade', text: 'Du behöver inte göra något mer.' },
      },
      expired: {
        one: { heading: 'Koden har gått ut', text: 'Tiden avbokades inte. Du har den fortfarande.' },
        many: { heading: 'Koden har gått ut', text: 'Tiderna avbokades inte. Du har dem fortfarande.' },
      },
      locked: {
        one: { heading: 'För många felaktiga koder', text: 'Tiden avbokades inte. Du har den fortfarande.' },
        many: { heading: 'För många felaktiga koder', text: 'Tiderna avbokades inte. Du har dem fortfarande.' },
      },
      cancelled: both({ heading: 'Avbokningen är avslutad', text: 'Koden kan inte användas längre.' }),
      unavailable: both({
        heading: 'Försök igen om en stund',
        text: 'Vi får ingen kontakt med tidboken just nu. Koden gäller fortfarande.',
      }),
    },
  },
  notices: {
    sent: 'En ny kod är på väg. Den tidigare gäller inte längre.',
    too_soon: 'Vänta en halv minut innan du ber om en ny kod. Använd den senaste koden du fick.',
    resend_limit: 'Vi kan inte skicka fler koder. Använd den senaste koden du fick.',
    patient_limit:
      'För många koder har skickats den senaste timmen. Använd den senaste koden du fick, eller försök igen senare.',
    no_contact: 'Vi har inte längre något telefonnummer eller någon e-postadress att skicka koden till.',
    unknown: 'Vi fick inget svar från tidboken. Försök igen.',
    unavailable: 'Vi fick ingen kontakt med tidboken, så ingenting har ändrats. Försök igen.',
    rejected: 'Tidboken godtog inte ändringen. Kontakta mottagningen.',
  },
  taken: { heading: 'Tiden är upptagen', text: 'Någon annan fick tiden innan den bekräftades. Boka en ny tid.' },
  unknownLink: {
    heading: 'Länken är inte giltig',
    text: 'Öppna länken igen från ditt senaste meddelande, eller kopiera hela länken. En länk slutar fungera en dag efter att koden har använts eller gått ut: boka igen där du bokade, eller ring mottagningen.',
  },
  tooManyRequests: { heading: 'För många försök', text: 'Vänta en minut och försök igen.' },
  failed: { heading: 'Något gick fel', text: 'Det är ett fel hos oss. Försök igen om en stund.' },
  sendingBy: { sms: 'Vi skickar koden till dig med SMS.', email: 'Vi skickar koden till dig med e-post.' },
  sentBy: { sms: 'Vi har skickat koden till dig med SMS.', email: 'Vi har skickat koden till dig med e-post.' },
  late: 'Meddelandet med koden är försenat. Vi försöker fortfarande skicka det, och koden gäller under tiden.',
  notDelivered: 'Vi kunde inte skicka meddelandet med koden.',
  requestAnother: 'Be om en ny kod.',
  reach: { call: 'Du kan också ringa oss:', contact: 'Du kan också kontakta mottagningen.' },
  change: {
    call: 'Om du behöver ändra eller avboka, ring oss:',
    contact: 'Om du behöver ändra eller avboka, kontakta mottagningen.',
  },
  code: 'Kod',
  validUntil: (time, day) => `Koden gäller till ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}.`,
  errorTitle: 'Koden godtogs inte',
  errorPrefix: 'Fel',
  malformed: (length) => `Skriv de ${length} siffrorna i koden`,
  incorrect: (left) => `Koden är fel. Du har ${left} försök kvar`,
  submit: { booking: 'Bekräfta', cancellation: 'Avboka' },
  noCode: 'Har du inte fått koden?',
  resend: 'Skicka ny kod',
  noMoreCodes: 'Vi kan inte skicka fler koder.',
  reload: 'Ladda om sidan',
  cancel: { one: 'Avboka tiden', many: 'Avboka tiderna' },
  confirmCancel: {
    one: { heading: 'Vill du avboka tiden?', text: 'Andra kan då boka den.' },
    many: { heading: 'Vill du avboka tiderna?', text: 'Andra kan då boka dem.' },
  },
  cancelNow: 'Ja, avboka',
  held: {
    one: (time, day) =>
      `Tiden hålls för dig till ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}. Släpp den för att boka den igen nu.`,
    many: (time, day) =>
      `Tiderna hålls för dig till ${day ? `${day.toLowerCase()} ` : ''}kl. ${time}. Släpp dem för att boka dem igen nu.`,
  },
  release: { one: 'Släpp tiden', many: 'Släpp tiderna' },
  confirmRelease: {
    one: { heading: 'Vill du släppa tiden?', text: 'Du kan då boka den igen, och det kan andra också.' },
    many: { heading: 'Vill du släppa tiderna?', text: 'Du kan då boka dem igen, och det kan andra också.' },
  },
  releaseNow: 'Ja, släpp',
  calendar: { one: 'Lägg till i kalendern', many: 'Lägg till dem i kalendern' },
  calendarCancelled: { one: 'Markera tiden som avbokad i kalendern', many: 'Markera tiderna som avbokade i kalendern' },
  calendarTitle: (clinic) => `Tid hos ${clinic}`,
  keep: 'Nej, gå tillbaka',
  goOn: 'Gå vidare',
  appointment: { one: 'Din tid', many: 'Dina tider' },
  time: 'Tid',
  place: 'Plats',
  resource: { practitioner: 'Hos', room: 'Rum', device: 'Utrustning' },
  until: 'till',
  language: 'Språk',
  help: 'Behöver du hjälp? Ring',
};
