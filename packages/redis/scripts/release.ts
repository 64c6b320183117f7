/**
 * Gives back what an owner holds without knowing, as the reply to a take was lost. ARGV: owner; then the tokens that it knows.
 * Replies those that it does not hold, as the server has lost what it knew.
 */
export const release = /* lua */ `
local tokens, lost = {}, {}
for i = 2, #ARGV do tokens[ARGV[i]] = true end
release(ARGV[1], tokens)
for token in pairs(tokens) do lost[#lost + 1] = token end
return reply(lost)
`;
