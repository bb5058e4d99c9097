import { describeBooking } from './vendor.ts';

const changes = ['create', 'cancel'];
describeBooking({ operations: 'isik' }, { changes, changesWithHold: changes });
