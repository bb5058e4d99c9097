import { describeBooking } from './vendor.ts';

const changes = ['create', 'cancel'];
describeBooking({ operations: 'epic' }, { changes, changesWithHold: changes, probed: 'ok' });
