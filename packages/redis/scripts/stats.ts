/** Counts. Replies how many keys are ready (those that are due among them), waiting, held, failing and given up. */
export const stats = /* lua */ `
promote()
local due = behind and call('ZCOUNT', WAITING, '-inf', now) or 0
return reply({
  call('ZCARD', READY) + call('ZCARD', SUSPECTS) + due,
  call('ZCARD', WAITING) - due,
  call('HLEN', HOLDERS),
  call('HLEN', prefix .. 'failures'),
  call('ZCARD', GIVEN_UP),
})
`;
