import { defineStrings } from "../../i18n";

export const strings = defineStrings({
  en: {
    title: "Client set-up", intro: "Two values make any client use this gateway: its address, and a key. Model names stay the same.",
    values: "Your values", address: "Gateway address", addressHint: "As the client reaches it.", key: "Key", keyHint: "Stays in this tab, is not stored. Only who made a key has its secret.",
    keyMissing: "Paste a key to fill it in below", keyRemembered: (n: string) => `Filled in: ${n}, which you made a moment ago.`, newKey: "Create a key", model: "Model", modelHint: "What this key can use.", modelHintNoKey: "What routes and providers list.", notKey: "That does not look like an Interlock key: they begin with ilk_.",
    client: "Client", groups: { agents: "Coding agents", editors: "Editors", sdks: "SDKs and tools" },
    test: "Send a test request", testText: "From this browser to the gateway, as this client would send it. It asks for a few tokens.", prompt: "Message", promptDefault: "Say hello in one short sentence.", send: "Send", sending: "Waiting for the answer…",
    needKey: "Paste or create a key first.", needModel: "Choose a model first.", otherHost: (host: string) => `The browser may only send to ${host}, where this page comes from. Use the curl lines for the other address.`,
    answered: "It works", refused: "The gateway refused it", failed: "No answer", answer: "Answer", status: "Status", provider: "Provider", route: "Route", wireModel: "Model at the provider", region: "Region", attempts: "Attempts", time: "Time taken", request: "Request",
    decision: "See why it went there", noText: "(an answer without text)", unreachable: "The request did not get to the gateway.",
    then: "Then", notes: {
      claude: "The address has no /v1. Claude Code asks for more than one model; a route for claude-* covers them.",
      codex: "A provider of type openai must serve the model. Codex sends encrypted reasoning back that only its maker can read, so a conversation stays at one provider.",
      cursor: "Settings › Models › API Keys: switch on “Override OpenAI Base URL”. Cursor sends from its own servers, so the address must be reachable from the internet, with https.",
      continue: "In ~/.continue/config.yaml.", cline: "In the settings of Cline or Roo Code, with the API provider “OpenAI Compatible”.", opencode: "In opencode.json of the project, or ~/.config/opencode/opencode.json.",
      env: "Most tools on these SDKs read the two variables: nothing to change in the code.",
    },
  },
  sv: {
    title: "Anslut klienter", intro: "Två värden får vilken klient som helst att använda den här gatewayen: dess adress och en nyckel. Modellnamnen är desamma.",
    values: "Dina värden", address: "Gatewayens adress", addressHint: "Så som klienten når den.", key: "Nyckel", keyHint: "Stannar i den här fliken och sparas inte. Bara den som gjort en nyckel har dess hemlighet.",
    keyMissing: "Klistra in en nyckel så fylls den i nedan", keyRemembered: (n) => `Ifylld: ${n}, som du nyss gjorde.`, newKey: "Skapa en nyckel", model: "Modell", modelHint: "Vad nyckeln kan använda.", modelHintNoKey: "Vad rutter och leverantörer listar.", notKey: "Det ser inte ut som en Interlock-nyckel: de börjar med ilk_.",
    client: "Klient", groups: { agents: "Kodagenter", editors: "Redigerare", sdks: "SDK:er och verktyg" },
    test: "Skicka ett provanrop", testText: "Från den här webbläsaren till gatewayen, så som klienten skulle skicka det. Det ber om några få token.", prompt: "Meddelande", promptDefault: "Säg hej i en kort mening.", send: "Skicka", sending: "Väntar på svaret…",
    needKey: "Klistra in eller skapa en nyckel först.", needModel: "Välj en modell först.", otherHost: (host) => `Webbläsaren får bara skicka till ${host}, där sidan kommer från. Använd curl-raderna för den andra adressen.`,
    answered: "Det fungerar", refused: "Gatewayen nekade det", failed: "Inget svar", answer: "Svar", status: "Status", provider: "Leverantör", route: "Rutt", wireModel: "Modell hos leverantören", region: "Region", attempts: "Försök", time: "Tog", request: "Anrop",
    decision: "Se varför det gick dit", noText: "(ett svar utan text)", unreachable: "Anropet kom inte fram till gatewayen.",
    then: "Sedan", notes: {
      claude: "Adressen har inget /v1. Claude Code frågar efter flera modeller; en rutt för claude-* täcker dem.",
      codex: "En leverantör av typen openai måste ha modellen. Codex skickar tillbaka krypterat resonemang som bara den som gjort det kan läsa, så ett samtal stannar hos en leverantör.",
      cursor: "Settings › Models › API Keys: slå på ”Override OpenAI Base URL”. Cursor skickar från sina egna servrar, så adressen måste gå att nå från internet, med https.",
      continue: "I ~/.continue/config.yaml.", cline: "I inställningarna för Cline eller Roo Code, med API-leverantören ”OpenAI Compatible”.", opencode: "I projektets opencode.json, eller ~/.config/opencode/opencode.json.",
      env: "De flesta verktyg på dessa SDK:er läser de två variablerna: inget att ändra i koden.",
    },
  },
});
