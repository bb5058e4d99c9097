/** Stored with every operation on appointments. */
export const appointmentKindName = 'appointments';
