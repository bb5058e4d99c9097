import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type CareSettings, careSettings } from './settings.ts';

/** CARE of the Open Healthcare Network: https://github.com/ohcnetwork/care */
export const careConnector: StatelessConnectorModule<CareSettings> = {
  name: 'care',
  title: 'CARE of the Open Healthcare Network (India)',
  settingsSchema: careSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./probe.ts')).probe(context),
};
