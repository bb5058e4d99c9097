import { institutions, kariNumber, people, professionals, specialities } from '../../connectors/gnuhealth/fake/data.ts';
import { password, startFake } from '../../connectors/gnuhealth/fake/server.ts';
import { ordinaryStarts } from '../../connectors/gnuhealth/test/starts.ts';
import { settingsFor } from '../../connectors/gnuhealth/test/subject.ts';
import { describeScenarios } from './scenarios.ts';

describeScenarios('the fake of GNU Health behind a gateway', async () => {
  const fake = await startFake({ starts: ordinaryStarts() });
  return {
    settings: settingsFor(fake.url),
    desk: { user: 'desk', password: { reveal: () => password } },
    institutions,
    specialty: specialities.family,
    professionals,
    patients: people,
    kariNumber,
    stop: () => fake.close(),
  };
});
