import { defineStrings } from "../i18n";

export const shell = defineStrings({
  en: {
    skip: "Skip to the content", main: "Main", menu: "Menu", search: "Search or jump to…", searchShort: "Search",
    group: { observe: "Observe", routing: "Routing", connect: "Connect", manage: "Manage" },
    account: "Account and appearance", signOut: "Sign out", theme: "Theme", light: "Light", dark: "Dark", system: "System", language: "Language",
    shortcuts: "Keyboard shortcuts", palette: "Open the command palette", focusSearch: "Search in the list", goTo: (page: string) => `Go to ${page}`, showShortcuts: "Show this list",
    newOne: "New, on a page with a list",
    paletteNothing: "Nothing found", paletteGo: "Go to", paletteDo: "Do", paletteObjects: "Objects",
    version: (v: string) => `Interlock ${v}`,
    signedOut: "You were signed out. Sign in again to go on.",
  },
  sv: {
    skip: "Hoppa till innehållet", main: "Huvudmeny", menu: "Meny", search: "Sök eller gå till…", searchShort: "Sök",
    group: { observe: "Följ", routing: "Dirigering", connect: "Anslut", manage: "Hantera" },
    account: "Konto och utseende", signOut: "Logga ut", theme: "Tema", light: "Ljust", dark: "Mörkt", system: "System", language: "Språk",
    shortcuts: "Kortkommandon", palette: "Öppna kommandopaletten", focusSearch: "Sök i listan", goTo: (page) => `Gå till ${page}`, showShortcuts: "Visa den här listan",
    newOne: "Ny, på en sida med en lista",
    paletteNothing: "Inget hittades", paletteGo: "Gå till", paletteDo: "Gör", paletteObjects: "Objekt",
    version: (v) => `Interlock ${v}`,
    signedOut: "Du loggades ut. Logga in igen för att fortsätta.",
  },
});
