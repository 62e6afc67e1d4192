module cgotarget

go 1.21
